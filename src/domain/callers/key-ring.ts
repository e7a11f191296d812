import { hash } from 'node:crypto';
import type { KeyEntry } from '#contract/configuration/access.ts';
import { parseTime } from '#contract/configuration/values.ts';
import { defaultRole } from '#contract/roles.ts';
import { type IsAllowed, toIsAllowed } from './allowed-address.ts';
import type { Caller, ConfiguredKey } from './caller.ts';
import { digestOfKey } from './made-key-form.ts';
import { subjectPrefixes } from './subjects.ts';

/** A key of a configuration file, ready for requests. */
export interface RingEntry {
  readonly caller: Caller;
  readonly isAllowed: IsAllowed;
  /** Whether the key expires, or is bound to addresses or deployments. */
  readonly hasBounds: boolean;
}

/** Keys of configuration files, stored as digests. A look-up compares digests, so its time reveals nothing about the keys. */
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
    const digest = sha256?.toLowerCase() ?? digestOfKey(entry.key ?? name);
    const configuredKey = toConfiguredKey(name, entry, digest);
    const roles = entry.roles ?? [entry.role ?? defaultRole];
    const caller = { subject: `${subjectPrefixes.key}${project}`, project, roles, chain: null };
    if (configuredKey?.expiresAtMs != null) this.#hasExpiringKeys = true;
    this.#entries.set(digest, {
      caller: configuredKey === undefined ? caller : { ...caller, configuredKey },
      isAllowed: toIsAllowed(allowedIps),
      hasBounds: configuredKey !== undefined || allowedIps !== undefined,
    });
  }
}

/** Undefined if the key neither expires nor is bound to deployments. */
function toConfiguredKey(name: string, entry: KeyEntry, digest: string): ConfiguredKey | undefined {
  const { expiresAt, deployments = null, key, sha256 } = entry;
  if (expiresAt === undefined && deployments === null) return undefined;
  // The name of an entry without `key` and `sha256` is the secret itself.
  const isNamed = key !== undefined || sha256 !== undefined;
  const expiresAtMs = expiresAt === undefined ? null : (parseTime(expiresAt) ?? 0);
  return { id: isNamed ? `name ${name}` : `digest ${digest}`, deployments, expiresAtMs };
}
