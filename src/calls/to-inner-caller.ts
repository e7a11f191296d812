import type { ModelUsage } from '#contract/chunk.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { rightsOfReceiver } from '#domain/callers/held-rights.ts';
import { filesHandedOn } from '#domain/files/files-handed-on.ts';
import type { Claim } from '#domain/limits/limit-store.ts';
import type { PreparedCall } from './prepared-call.ts';

/** Who an application is while it answers a call, and presents its per-request key: the one who started the chain, further down the path. */
export function toInnerCaller({ target, request, inner, claims }: PreparedCall, noteRefusal?: () => void): Caller {
  const { call, path, deployment } = target;
  const { caller } = call;
  const rights = rightsOfReceiver(deployment.id, caller.chain, filesHandedOn(caller, { request, path }));
  const report = (usage: readonly ModelUsage[]): void => inner?.add(usage);
  const chain = { path, rights, claims: claimsOnTheWay(caller, claims), report };
  return { ...caller, chain: { ...chain, ...(noteRefusal && { noteRefusal }) } };
}

/** What is reserved for the calls of a chain, with that of the next one. */
export function claimsOnTheWay({ chain }: Caller, claims: readonly Claim[]): readonly Claim[] {
  return chain?.claims === undefined ? claims : [...chain.claims, ...claims];
}
