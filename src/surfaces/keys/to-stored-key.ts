import { isIP } from 'node:net';
import type { SelfService } from '#contract/configuration/access.ts';
import { isNetwork } from '#contract/configuration/values.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { requestFault } from '#contract/request-fault.ts';
import type { NewKey } from '#contract/user-keys.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { StoredKey } from '#domain/callers/key-store.ts';
import type { toMadeKey } from '#domain/callers/made-key-form.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Who makes a key, and what of it nobody chooses. */
export interface Making {
  readonly owner: Caller;
  readonly right: SelfService;
  readonly id: string;
  readonly made: Pick<ReturnType<typeof toMadeKey>, 'digest' | 'prefix'>;
  readonly nowMs: number;
}

/** A key as it is asked for. Throws invalid_request with the path of what cannot be. */
export function toStoredKey(asked: NewKey, { owner, right, id, made, nowMs }: Making): StoredKey {
  const { name = '', deployments, allowedIps } = asked;
  if (/\p{C}/u.test(name)) throw requestFault('name', 'must be one line of text');
  return {
    ...{ id, owner: owner.subject, project: owner.project, roles: owner.roles, signedInAtMs: owner.signedInAtMs ?? nowMs },
    ...{ name, prefix: made.prefix, digest: made.digest, version: 1, former: null },
    deployments: deployments === undefined ? null : [...new Set(deployments.map(toId))],
    allowedIps: allowedIps === undefined ? null : [...new Set(allowedIps.map(toNetwork))],
    ...{ createdAtMs: nowMs, expiresAtMs: toExpiry(asked, right, nowMs), lastUsedAtMs: null },
  };
}

function toExpiry({ expiresAt, days }: NewKey, { maxDays }: SelfService, nowMs: number): number {
  if (expiresAt !== undefined && days !== undefined) throw requestFault('days', 'cannot stand beside expiresAt');
  if (days !== undefined && days > maxDays) throw requestFault('days', `must be at most ${maxDays}, as your roles have it`);
  const latestMs = nowMs + maxDays * dayMs;
  if (expiresAt === undefined) return days === undefined ? latestMs : nowMs + days * dayMs;
  if (expiresAt <= nowMs) throw requestFault('expiresAt', 'must be in the future, in milliseconds since the epoch');
  if (expiresAt > latestMs)
    throw requestFault('expiresAt', `must be at most ${latestMs}, ${maxDays} days from now, as your roles have it`);
  return expiresAt;
}

function toId(text: string, index: number): string {
  const id = toDeploymentId(text);
  if (id === undefined) throw requestFault(`deployments[${index}]`, 'can be the id of no deployment');
  return id;
}

function toNetwork(text: string, index: number): string {
  const [address = ''] = text.split('/');
  if (isNetwork(text) && isIP(address) !== 0) return text;
  throw requestFault(`allowedIps[${index}]`, 'must be an address, or a network such as 10.0.0.0/8');
}
