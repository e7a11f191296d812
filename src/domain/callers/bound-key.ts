import { hash } from 'node:crypto';
import { toLetters } from '#base/text/letter-id.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from './caller.ts';

/**
 * Marks a route that accepts keys bound to deployments. These routes call the deployments or read about them. All other
 * routes reject the keys.
 */
export type BoundKeys = 'accepts bound keys';

type Keys = Pick<Caller, 'userKey' | 'configuredKey'>;
/** Part of a caller that shows whether its own key is bound. */
type Holder = Keys & { readonly chain: object | null };

const tagBytes = 16;

/**
 * Returns whether a caller uses a key that is bound to deployments. Inner calls of these deployments use the rights of the
 * user.
 */
export function isBoundKey(holder: Holder): boolean {
  return holder.chain === null && getDeployments(holder) !== null;
}

/** Returns whether a caller's bound key excludes the deployment. */
export function isExcludedByKey(holder: Holder, deployment: string): boolean {
  return holder.chain === null && getDeployments(holder)?.includes(deployment) === false;
}

function getDeployments({ userKey, configuredKey }: Keys): readonly string[] | null {
  return userKey?.deployments ?? configuredKey?.deployments ?? null;
}

/** Throws `access_denied` for a bound key on a route that does not accept it. */
export function requireUnbound(holder: Holder, boundKeys: BoundKeys | undefined): void {
  if (boundKeys !== undefined || !isBoundKey(holder)) return;
  throw new ParleyError(
    'access_denied',
    'A key that is bound to deployments can only call these deployments and list their details. Send a key that is not bound to deployments, or your token.',
  );
}

/** Returns the ID of a record that a caller stores. If the caller's key is bound, the ID identifies the key. */
export function toRecordId(prefix: string, holder: Holder, unique: string): string {
  return `${prefix}_${getTag(holder)}${unique.replaceAll('-', '')}`;
}

/** Returns whether a caller may use a stored record of its user. A bound key uses only records that it stored itself. */
export function mayUseRecord(holder: Holder, id: string): boolean {
  return id.slice(id.indexOf('_') + 1).startsWith(getTag(holder));
}

function getTag(holder: Holder): string {
  if (!isBoundKey(holder)) return '';
  const id = holder.userKey?.id ?? holder.configuredKey?.id;
  const digest = hash('sha256', `parley bound key ${id}`, 'buffer').subarray(0, tagBytes);
  return Array.from(digest, toLetters).join('');
}
