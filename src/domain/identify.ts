import { ParleyError } from '#contract/errors.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';
import type { PerRequestKeys } from './per-request-keys.ts';

/** Finds who a key belongs to. Throws `invalid_api_key`. */
export type Identify = (credentials: string) => Promise<Caller>;

/** Looks a key up among the configured ones, then among those of calls under way. */
export function createIdentify(directory: () => Directory, perRequestKeys: PerRequestKeys): Identify {
  return async (credentials) => {
    const holder = directory().keys.find(credentials);
    if (holder !== undefined)
      return { subject: `key:${holder.project}`, project: holder.project, roles: holder.roles, chain: null };
    const caller = await perRequestKeys.find(credentials);
    if (caller !== undefined) return caller;
    throw new ParleyError('invalid_api_key', 'The key is not known here, or the call it was made for has ended.');
  };
}
