import { isJsonObject, tryParseJson } from '#base/json.ts';
import type { Caller, Chain } from '#domain/callers/caller.ts';

/** A caller as text, without whom it reports to. */
export function toStored({ subject, project, roles, chain }: Caller): string {
  return JSON.stringify({ subject, project, roles, path: chain?.path ?? [], files: [...(chain?.files ?? [])] });
}

/** The caller again; undefined for anything that `toStored` does not give. */
export function fromStored(text: string, report: Chain['report']): Caller | undefined {
  const stored = tryParseJson(text);
  if (!isJsonObject(stored)) return undefined;
  const { subject, project, roles, path, files } = stored;
  if (typeof subject !== 'string' || typeof project !== 'string') return undefined;
  if (!isTexts(roles) || !isTexts(path) || !isTexts(files)) return undefined;
  return { subject, project, roles, chain: { path, files: new Set(files), report } };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
