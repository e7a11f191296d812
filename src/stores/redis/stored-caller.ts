import { isJsonObject, tryParseJson } from '#base/json.ts';
import type { Caller, Chain } from '#domain/callers/caller.ts';
import { type Grant, HeldRights } from '#domain/callers/held-rights.ts';
import { toGrants } from './stored-rights.ts';

/** A caller as text, without whom it reports to. */
export function toStored({ subject, project, roles, chain }: Caller): string {
  const { files = [], received = [], granted = [] } = chain?.rights ?? {};
  const rights = { files: [...files], ...some({ received, granted }) };
  return JSON.stringify({ subject, project, roles, path: chain?.path ?? [], ...rights });
}

/** The caller again; undefined for anything that `toStored` does not give. */
export function fromStored(text: string, report: Chain['report']): Caller | undefined {
  const stored = tryParseJson(text);
  if (!isJsonObject(stored)) return undefined;
  const { subject, project, roles, path, files } = stored;
  if (typeof subject !== 'string' || typeof project !== 'string') return undefined;
  if (!isTexts(roles) || !isTexts(path) || !isTexts(files)) return undefined;
  const rights = new HeldRights({ files, received: toGrants(stored.received), granted: toGrants(stored.granted) });
  return { subject, project, roles, chain: { path, rights, report } };
}

/** Few keys have any grants. */
function some(grants: Readonly<Record<string, readonly Grant[]>>): object {
  return Object.fromEntries(Object.entries(grants).filter(([, each]) => each.length > 0));
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
