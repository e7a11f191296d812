import type { Caller } from '#domain/callers/caller.ts';
import { rightsOfReceiver } from '#domain/callers/held-rights.ts';
import { filesHandedOn } from '#domain/files/files-handed-on.ts';
import type { PreparedCall } from './prepared-call.ts';

/** Who an application is while it answers a call, and presents its per-request key: the one who started the chain, further down the path. */
export function toInnerCaller({ target, request, inner }: PreparedCall, noteRefusal?: () => void): Caller {
  const { call, path, deployment } = target;
  const { caller } = call;
  const rights = rightsOfReceiver(deployment.id, caller.chain, filesHandedOn(caller, { request, path }));
  return { ...caller, chain: { path, rights, report: (usage) => inner.add(usage), ...(noteRefusal && { noteRefusal }) } };
}
