import { createNetworkMatcher, type RequestOrigin, resolveClientAddress, toPeer } from '#base/http/client-address.ts';
import { hasSecretName, type KeyEntry } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { parseTime } from '#contract/configuration/values.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller, ConfiguredKey } from './caller.ts';
import { hashKey } from './key-form.ts';
import { subjectPrefixes } from './subjects.ts';

/** A key of the configuration, ready for requests. */
export interface RingEntry {
  readonly caller: Caller;
  readonly isAllowed: AddressMatcher;
  /** Whether the key expires, or is bound to addresses or deployments. */
  readonly hasBounds: boolean;
}

/** Returns the ID of a key of the configuration. It does not change on a reload. A named entry keeps it when its secret changes. */
export function toKeyId(name: string, entry: Pick<KeyEntry, 'key' | 'sha256'>): string {
  return hasSecretName(entry) ? `digest ${hashKey(name)}` : `name ${name}`;
}

/** Characters of a digest that identify a secret among the secrets of one entry. */
const secretIdChars = 16;

/**
 * Keys of the configuration, stored as digests. A lookup compares digests, so its duration does not reveal information about the
 * keys.
 */
export class KeyRing {
  readonly #entries = new Map<string, RingEntry>();
  /** IDs of the accepted secrets by key ID. */
  readonly #secretIds = new Map<string, readonly string[]>();
  #hasExpiringKeys = false;

  constructor(entries: Readonly<Record<string, KeyEntry>>) {
    for (const [name, entry] of Object.entries(entries)) if (entry.disabled !== true) this.#add(name, entry);
  }

  /** Whether any key expires. */
  get hasExpiringKeys(): boolean {
    return this.#hasExpiringKeys;
  }

  find(key: string): RingEntry | undefined {
    return this.#entries.get(hashKey(key));
  }

  /**
   * Returns whether a secret of a key is still accepted: the key was not removed or blocked, and the secret was not replaced.
   * Does not check the expiry.
   */
  accepts({ id, secretId }: ConfiguredKey): boolean {
    const secretIds = this.#secretIds.get(id);
    return secretIds !== undefined && (secretId === undefined || secretIds.includes(secretId));
  }

  #add(name: string, entry: KeyEntry): void {
    const { key, sha256, previous, expiresAt } = entry;
    const isNamed = !hasSecretName(entry);
    const digest = sha256?.toLowerCase() ?? hashKey(key ?? name);
    const id = toKeyId(name, entry);
    const common = { id, ...(isNamed && { name }), deployments: entry.deployments ?? null };
    const expiresAtMs = expiresAt === undefined ? null : (parseTime(expiresAt) ?? 0);
    this.#addSecret(entry, digest, { ...common, expiresAtMs });
    if (previous === undefined) return;
    const untilMs = Math.min(parseTime(previous.until) ?? 0, expiresAtMs ?? Number.POSITIVE_INFINITY);
    this.#addSecret(entry, previous.sha256.toLowerCase(), { ...common, expiresAtMs: untilMs });
  }

  #addSecret({ project, role, roles = [role ?? defaultRole], allowedIps }: KeyEntry, digest: string, key: ConfiguredKey): void {
    const secretId = digest.slice(0, secretIdChars);
    const { id, deployments, expiresAtMs } = key;
    this.#secretIds.set(id, [...(this.#secretIds.get(id) ?? []), secretId]);
    if (expiresAtMs !== null) this.#hasExpiringKeys = true;
    this.#entries.set(digest, {
      caller: { subject: `${subjectPrefixes.key}${project}`, project, roles, chain: null, configuredKey: { ...key, secretId } },
      isAllowed: createAddressMatcher(allowedIps),
      hasBounds: deployments !== null || expiresAtMs !== null || allowedIps !== undefined,
    });
  }
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
    `The key cannot be used from ${realIp}, because it is bound to other addresses. Send the request from an allowed address, or use another key.`,
  );
}
