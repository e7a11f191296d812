import { isJsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Tags } from '#contract/tags.ts';
import type { Caller, Chain } from '#domain/callers/caller.ts';
import { type Grant, HeldRights, type Permission, permissions, type RightsChange } from '#domain/callers/held-rights.ts';
import type { Claim } from '#domain/limits/limit-store.ts';

/** Report about a per-request key for the process that issued it: the usage of a call, or a change of the rights of the key. */
export interface KeyReport {
  readonly usage: readonly ModelUsage[];
  readonly rights?: RightsChange;
}

/** Applies a report to the caller of a key. Has no effect if the caller is undefined, because its key is revoked. */
export async function applyReport(caller: Caller | undefined, { usage, rights }: KeyReport): Promise<void> {
  await caller?.chain?.report(usage);
  if (rights !== undefined) await caller?.chain?.rights.change(rights);
}

/** Serializes a caller without its callbacks. */
export function serializeCaller({ subject, project, roles, chain, userKey, configuredKey }: Caller): string {
  const { files = [], assistantFiles = [], received = [], granted = [] } = chain?.rights ?? {};
  const rights = {
    files: [...files],
    ...withoutEmpty({ assistantFiles: [...assistantFiles], received, granted, claims: chain?.claims ?? [] }),
  };
  const key = userKey && { madeKey: { id: userKey.id, version: userKey.version } };
  const { id, secretId, name, expiresAtMs } = configuredKey ?? {};
  const configured = configuredKey && { configuredKey: { id, secretId, name, expiresAtMs } };
  const inherited = { ...(chain?.tags && { tags: chain.tags }), ...(chain?.isPrivate && { isPrivate: true }) };
  return JSON.stringify({ subject, project, roles, path: chain?.path ?? [], ...rights, ...key, ...configured, ...inherited });
}

interface CallerCallbacks {
  readonly report: Chain['report'];
  readonly onRightsChange: (change: RightsChange) => Promise<void>;
}

/** Restores a caller that `serializeCaller` serialized. Returns undefined if the text is not a valid caller. */
export function parseCaller(text: string, { report, onRightsChange }: CallerCallbacks): Caller | undefined {
  const stored = tryParseJson(text);
  if (!isJsonObject(stored)) return undefined;
  const { subject, project, roles, path, files, assistantFiles = [] } = stored;
  if (typeof subject !== 'string' || typeof project !== 'string') return undefined;
  if (!isStringList(roles) || !isStringList(path) || !isStringList(files) || !isStringList(assistantFiles)) return undefined;
  const rights = new HeldRights({
    ...{ files, assistantFiles },
    ...{ received: toGrants(stored.received), granted: toGrants(stored.granted) },
  });
  rights.onChange(onRightsChange);
  const tags = isTags(stored.tags) && { tags: stored.tags };
  const isPrivate = stored.isPrivate === true && { isPrivate: true };
  const claims = Array.isArray(stored.claims) ? stored.claims.filter(isClaim) : [];
  const chain = { path, rights, claims, report, ...tags, ...isPrivate };
  return { subject, project, roles, chain, ...toUserKey(stored.madeKey), ...toConfiguredKey(stored.configuredKey) };
}

/** The list of deployments of the user's key does not apply to per-request keys. */
function toUserKey(value: unknown): Pick<Caller, 'userKey'> {
  const { id, version } = toObject(value);
  return typeof id === 'string' && typeof version === 'number' ? { userKey: { id, version, deployments: null } } : {};
}

/** Inner calls are canceled when this key of the first call becomes invalid. Its list of deployments does not apply to them. */
function toConfiguredKey(value: unknown): Pick<Caller, 'configuredKey'> {
  const { id, secretId, name, expiresAtMs } = toObject(value);
  if (typeof id !== 'string') return {};
  return {
    configuredKey: {
      ...{ id, deployments: null, expiresAtMs: typeof expiresAtMs === 'number' ? expiresAtMs : null },
      ...(typeof secretId === 'string' && { secretId }),
      ...(typeof name === 'string' && { name }),
    },
  };
}

/** Omits empty lists, which are frequent. */
function withoutEmpty(lists: Readonly<Record<string, readonly (Grant | Claim | string)[]>>): object {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

function isClaim(value: unknown): value is Claim {
  if (!isJsonObject(value)) return false;
  const { kind, holder, amount } = value;
  return (kind === 'tokens' || kind === 'cost' || kind === 'calls') && typeof holder === 'string' && typeof amount === 'number';
}

function isTags(value: unknown): value is Tags {
  return isJsonObject(value) && isStringList(Object.values(value));
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Returns the valid grants in a value from another node. */
function toGrants(value: unknown): readonly Grant[] {
  return Array.isArray(value) ? value.flatMap(toGrant) : [];
}

/** Returns a rights change from another node, or undefined if the value is not one. */
export function toRightsChange(value: unknown): RightsChange | undefined {
  if (!isJsonObject(value)) return undefined;
  const { attached, grant, revoke } = value;
  if (Array.isArray(attached)) return { attached: attached.filter((item) => typeof item === 'string') };
  if (grant !== undefined) return { grant: toGrants(grant) };
  return revoke === undefined ? undefined : { revoke: toGrants(revoke) };
}

function toGrant(value: unknown): Grant[] {
  if (!isJsonObject(value)) return [];
  const { receiver, url, permissions: values } = value;
  if (typeof receiver !== 'string' || typeof url !== 'string' || !Array.isArray(values)) return [];
  return [{ receiver, url, permissions: values.filter(isPermission) }];
}

function isPermission(value: unknown): value is Permission {
  return permissions.some((permission) => permission === value);
}
