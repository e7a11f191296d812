import { HeldRights } from '#domain/callers/held-rights.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';

export function createPerRequestKeys(): PerRequestKeys {
  return new MemoryPerRequestKeys(() => 'a-per-request-key');
}

/** Issues the key that the application `app` receives if `key:test` calls it. */
export async function issuePerRequestKey(keys: PerRequestKeys): Promise<string> {
  const chain = { path: ['app'], rights: new HeldRights(), report: () => undefined };
  return String(await keys.issue({ subject: 'key:test', project: 'test', roles: ['default'], chain }));
}
