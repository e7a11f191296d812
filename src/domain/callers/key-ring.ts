import { hash } from 'node:crypto';
import { createNetworkMatcher, type RequestOrigin, resolveClientAddress, toPeer } from '#base/http/client-address.ts';
import type { KeyEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { parseTime } from '#contract/configuration/values.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller, ConfiguredKey } from './caller.ts';
import { subjectPrefixes } from './subjects.ts';
import { hashKey } from './user-key-form.ts';

/** A key of a configuration file, ready for requests. */
export interface RingEntry {
  readonly caller: Caller;
  readonly isAllowed: AddressMatcher;
  /** Whether the key expires, or is bound to addresses or deployments. */
  readonly hasBounds: boolean;
}

/**
 * Keys of configuration files, stored as digests. A lookup compares digests, so its duration does not reveal information about
 * the keys.
 */
export class KeyRing {
  readonly #entries = new Map<string, RingEntry>();
  #hasExpiringKeys = false;

  constructor(entries: Readonly<Record<string, KeyEntry>>) {
    for (const [name, entry] of Object.entries(entries)) this.#add(name, entry);
  }

  /** Whether any key expires. */
  get hasExpiringKeys(): boolean {
    return this.#hasExpiringKeys;
  }

  find(key: string): RingEntry | undefined {
    return this.#entries.get(hash('sha256', key, 'hex'));
  }

  #add(name: string, entry: KeyEntry): void {
    const { project, sha256, allowedIps } = entry;
    const digest = sha256?.toLowerCase() ?? hashKey(entry.key ?? name);
    const configuredKey = toConfiguredKey(name, entry, digest);
    const roles = entry.roles ?? [entry.role ?? defaultRole];
    const caller = { subject: `${subjectPrefixes.key}${project}`, project, roles, chain: null };
    if (configuredKey?.expiresAtMs != null) this.#hasExpiringKeys = true;
    this.#entries.set(digest, {
      caller: configuredKey === undefined ? caller : { ...caller, configuredKey },
      isAllowed: createAddressMatcher(allowedIps),
      hasBounds: configuredKey !== undefined || allowedIps !== undefined,
    });
  }
}

/** Returns undefined if the key neither expires nor is bound to deployments. */
function toConfiguredKey(name: string, entry: KeyEntry, digest: string): ConfiguredKey | undefined {
  const { expiresAt, deployments = null, key, sha256 } = entry;
  if (expiresAt === undefined && deployments === null) return undefined;
  // The name of an entry without `key` and `sha256` is the secret.
  const isNamed = key !== undefined || sha256 !== undefined;
  const expiresAtMs = expiresAt === undefined ? null : (parseTime(expiresAt) ?? 0);
  return { id: isNamed ? `name ${name}` : `digest ${digest}`, deployments, expiresAtMs };
}

/** Returns whether a key accepts an address. If undefined, the key accepts every address. */
export type AddressMatcher = ((address: string) => boolean) | undefined;

/** Creates the matcher for `allowedIps` of a key: addresses, and networks in CIDR notation. Null or undefined allows any. */
export function createAddressMatcher(allowedIps: readonly string[] | null | undefined): AddressMatcher {
  return allowedIps == null ? undefined : createNetworkMatcher(allowedIps);
}

/** Throws `address_not_allowed` if a request comes from an address that its key does not accept. */
export function requireAllowedAddress(
  isAllowed: AddressMatcher,
  { socket, headers }: RequestOrigin,
  { security }: Pick<Configuration, 'security'>,
): void {
  if (isAllowed === undefined) return;
  const { realIp } = resolveClientAddress(toPeer(socket), headers, createNetworkMatcher(security.trustedProxies));
  if (isAllowed(realIp)) return;
  throw new ParleyError(
    'address_not_allowed',
    `The key may not be used from ${realIp}, because it is bound to other addresses. Send the request from an allowed address, or use another key.`,
  );
}
