import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { Authorization } from '../configuration/authorization.ts';
import { listObjects } from '../configuration/entries.ts';
import type { Issue, Path } from '../configuration/issue.ts';
import { defaultProtocol } from '../configuration/protocols.ts';
import { maskedSecret, readSchema, replaceSecrets } from '../configuration/schema-node.ts';
import { maskSecrets, restoreSecrets } from '../quick-app/secrets.ts';
import { type EntryKind, entryKinds } from './entry-kinds.ts';

/** Returns an entry with `***` in place of each secret. */
export function maskEntrySecrets(kind: EntryKind, entry: JsonObject): JsonObject {
  const masked = replaceSecrets(readSchema(entryKinds[kind].schema), entry, () => maskedSecret) as JsonObject;
  const { applicationProperties } = entry;
  return isJsonObject(applicationProperties) ? { ...masked, applicationProperties: maskSecrets(applicationProperties) } : masked;
}

/** An entry with its secrets, and the errors of its placeholders. */
export interface RestoredEntry {
  readonly entry: JsonObject;
  /** Paths are relative to the entry. */
  readonly errors: readonly Issue[];
}

/**
 * Completes an entry with the stored secrets that it omits or hides as `***`. A stored secret applies only to the address that it
 * was stored for. Without this rule, an administrator could send it to another address. `null` removes a secret.
 */
export function restoreEntrySecrets(kind: EntryKind, input: JsonObject, stored: JsonObject | undefined): RestoredEntry {
  const errors: Issue[] = [];
  const restored = withoutRemovedSecrets(kind, restoreHolders(kind, { input, stored, errors }));
  const reported = new Set(errors.map(({ path }) => JSON.stringify(path)));
  const isReported = (path: Path) => path.some((_, index) => reported.has(JSON.stringify(path.slice(0, index + 1))));
  replaceSecrets(readSchema(entryKinds[kind].schema), restored, (secret, path) => {
    if (secret === maskedSecret && !isReported(path))
      errors.push({ path, message: `is ${maskedSecret}, but no secret is stored. Enter the secret` });
    return secret;
  });
  const { applicationProperties } = restored;
  if (!isJsonObject(applicationProperties)) return { entry: restored, errors };
  const storedProperties = isJsonObject(stored?.applicationProperties) ? stored.applicationProperties : undefined;
  const merged = restoreSecrets(applicationProperties, storedProperties);
  errors.push(...merged.errors.map((error) => ({ ...error, path: ['applicationProperties', ...error.path] })));
  return { entry: { ...restored, applicationProperties: merged.properties }, errors };
}

interface RestoreOptions {
  readonly input: JsonObject;
  readonly stored: JsonObject | undefined;
  readonly errors: Issue[];
}

/** Fields with secrets: of each upstream of a model, and of an addon. */
const secretFields: Readonly<Record<'models' | 'addons', readonly string[]>> = {
  models: ['key', 'headers', 'extraData'],
  addons: ['authorization'],
};

/** Restores the secrets of a key, or of each object with an address: upstreams of a model, an addon, or an introspection endpoint. */
function restoreHolders(kind: EntryKind, { input, stored, errors }: RestoreOptions): JsonObject {
  if (kind === 'keys') return restoreKey({ input, stored, errors });
  if (stored === undefined) return input;
  if (kind === 'addons') {
    const completed = withOmittedSecrets(input, stored);
    return restoreFields(
      { input: completed, stored, errors },
      { names: secretFields.addons, path: [], isSameAddress: toAddonAddress(completed) === toAddonAddress(stored) },
    );
  }
  if (kind === 'identity-providers') {
    const { introspection } = input;
    if (!isJsonObject(introspection) || !isJsonObject(stored.introspection)) return input;
    const restored = restoreFields(
      { input: introspection, stored: stored.introspection, errors },
      {
        names: ['clientSecret'],
        path: ['introspection'],
        isSameAddress: introspection.url === stored.introspection.url,
        isRequired: true,
      },
    );
    return { ...input, introspection: restored };
  }
  if (kind !== 'models' || !Array.isArray(input.upstreams)) return input;
  const storedUpstreams = new Map(listObjects(stored.upstreams));
  const getAddress = (upstream: JsonObject, model: JsonObject) =>
    JSON.stringify([upstream.protocol ?? model.protocol ?? defaultProtocol, upstream.endpoint, model.endpoint, upstream.region]);
  const firstByAddress = new Map<string, JsonObject>();
  for (const item of storedUpstreams.values()) {
    const address = getAddress(item, stored);
    if (!firstByAddress.has(address)) firstByAddress.set(address, item);
  }
  const upstreams = input.upstreams.map((upstream: unknown, index) => {
    if (!isJsonObject(upstream)) return upstream;
    const address = getAddress(upstream, input);
    const sameIndex = storedUpstreams.get(index);
    const isSameIndex = sameIndex !== undefined && getAddress(sameIndex, stored) === address;
    const match = isSameIndex ? sameIndex : firstByAddress.get(address);
    return restoreFields(
      { input: upstream, stored: match ?? sameIndex ?? {}, errors },
      { names: secretFields.models, path: ['upstreams', index], isSameAddress: match !== undefined },
    );
  });
  return { ...input, upstreams };
}

/** Returns the addresses that receive the secrets of an addon. An omitted authorization is the stored one. */
function toAddonAddress({ url, authorization }: JsonObject): string {
  return JSON.stringify([url, isJsonObject(authorization) ? authorization.token_url : undefined]);
}

/** Adds the secrets that the authorization of an addon omits, as placeholders. */
function withOmittedSecrets(input: JsonObject, { authorization: stored }: JsonObject): JsonObject {
  const { authorization } = input;
  if (!isJsonObject(stored)) return input;
  if (authorization === undefined) return { ...input, authorization: maskAuthorization(stored) };
  if (!isJsonObject(authorization) || authorization.type !== stored.type) return input;
  const masked = Object.entries(maskAuthorization(stored)).filter(([, value]) => value === maskedSecret);
  return {
    ...input,
    authorization: {
      ...Object.fromEntries(masked.filter(([name]) => authorization[name] === undefined)),
      ...authorization,
    },
  };
}

function maskAuthorization(authorization: JsonObject): JsonObject {
  return replaceSecrets(readSchema(Authorization), authorization, () => maskedSecret) as JsonObject;
}

/**
 * The digest of a stored key stays, unless the input has another key. A blocked key stays blocked unless the input unblocks it
 * explicitly, so that an older document does not unblock it.
 */
function restoreKey({ input, stored, errors }: RestoreOptions): JsonObject {
  if (stored === undefined) return input;
  const previous = input.previous ?? stored.previous;
  if (input.previous !== undefined && !isDeepStrictEqual(input.previous, stored.previous))
    errors.push({ path: ['previous'], message: 'cannot be changed. Only a rotation sets it' });
  const disabled = input.disabled ?? stored.disabled;
  const restored: JsonObject = {
    ...input,
    ...(previous !== undefined && { previous }),
    ...(disabled !== undefined && { disabled }),
  };
  const keepsSecret = (input.key === undefined || input.key === maskedSecret) && input.sha256 === undefined;
  if (!keepsSecret || stored.sha256 === undefined) return restored;
  const { key: _key, ...otherFields } = restored;
  return { ...otherFields, sha256: stored.sha256 };
}

/** An object of an entry whose secrets are for one address. */
interface Holder {
  /** Fields with secrets. */
  readonly names: readonly string[];
  readonly path: Path;
  /** Whether the input has the address that the stored secrets are for. */
  readonly isSameAddress: boolean;
  /** Whether the fields cannot be removed. */
  readonly isRequired?: true;
}

function restoreFields({ input, stored, errors }: RestoreOptions & { readonly stored: JsonObject }, holder: Holder): JsonObject {
  const restored: JsonObject = { ...input };
  for (const name of holder.names) {
    const isMasked = restored[name] === undefined || hasMaskedSecret(restored[name]);
    if (!isMasked || stored[name] === undefined || isEmpty(stored[name])) continue;
    if (holder.isSameAddress) restored[name] = mergeMasked(restored[name], stored[name]);
    else {
      const message = 'must be entered again: the stored secret is for another address';
      errors.push({ path: [...holder.path, name], message: holder.isRequired ? message : `${message}. Write null to remove it` });
    }
  }
  return restored;
}

function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function hasMaskedSecret(value: unknown): boolean {
  return value === maskedSecret || (isJsonObject(value) && Object.values(value).some(hasMaskedSecret));
}

/** Replaces each placeholder with the stored value at the same path. An omitted value is the stored one. */
function mergeMasked(input: unknown, stored: unknown): unknown {
  if (input === undefined || input === maskedSecret) return stored;
  if (!isJsonObject(input)) return input;
  const storedFields = toObject(stored);
  const merge = ([name, value]: [string, unknown]): [string, unknown] => [
    name,
    hasMaskedSecret(value) && Object.hasOwn(storedFields, name) ? mergeMasked(value, storedFields[name]) : value,
  ];
  return Object.fromEntries(Object.entries(input).map(merge));
}

/** Removes secrets that are null. */
function withoutRemovedSecrets(kind: EntryKind, entry: JsonObject): JsonObject {
  if (kind !== 'models' && kind !== 'addons') return entry;
  const remove = (holder: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(holder).filter(([name, value]) => value !== null || !secretFields[kind].includes(name)));
  if (kind === 'addons') return remove(entry);
  if (!Array.isArray(entry.upstreams)) return entry;
  return { ...entry, upstreams: entry.upstreams.map((item: unknown) => (isJsonObject(item) ? remove(item) : item)) };
}
