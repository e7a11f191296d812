import { isJsonObject } from '#base/json/json.ts';
import { BlockedAddressError, NetGuard } from '#base/net/net-guard.ts';
import { truncate } from '#base/text/truncate.ts';
import { readApplicationEntry, withEntryNames } from '#contract/configuration/application-entry.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { formatPath, type Issue } from '#contract/configuration/issue.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import { mayUse } from '#domain/callers/access.ts';
import { requireUnbound } from '#domain/callers/bound-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { rejectPerRequestKey } from '#domain/callers/per-request-keys.ts';
import {
  type ApplicationLocation,
  createApplicationNotFoundError,
  parseApplicationLocation,
} from '#domain/deployments/application-location.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { addressFeatures, type Deployment } from '#domain/deployments/deployment.ts';
import { filePrefix, parseReference, toReference } from '#domain/files/resource-location.ts';
import { ignoreStoreError } from '#domain/store-error.ts';
import { type ApplicationDeps, findSharingIssues, requireOwner } from './application-access.ts';
import { listDocuments, unknownDeployment } from './find-warnings.ts';

const maxReportedIssues = 5;
const maxPathLength = 200;

/** Context for the validation of an application before it is saved. */
interface SaveContext extends Pick<ApplicationDeps, 'catalog' | 'people' | 'files'> {
  readonly caller: Caller;
  readonly location: ApplicationLocation;
  readonly snapshot: ConfigSnapshot;
  /** The stored application. Undefined if the application is new. */
  readonly stored: StoredApplication | undefined;
}

const maxReferenceLength = 200;
const responseFields = new Set(['id', 'etag', 'createdAt', 'updatedAt', 'created_at', 'updated_at', 'warnings']);

/**
 * Returns the validated entry from a request body, which may also be the response of a GET. Throws `invalid_request` with the
 * errors.
 */
export async function readApplication(body: unknown, context: SaveContext): Promise<ApplicationEntry> {
  const input = withEntryNames(isJsonObject(body) ? withoutResponseFields(body) : body);
  const ids = await listPossibleModels(input, context);
  const storedProperties = context.stored?.entry.applicationProperties;
  const { entry, errors } = readApplicationEntry(input, { ids, storedProperties });
  rejectIssues(errors);
  const { location } = context;
  rejectIssues([...findEndpointIssues(entry, context), ...findModelIssues(entry, ids), ...findDocumentIssues(entry, location)]);
  rejectIssues(await findSharingIssues(entry, { stored: context.stored?.entry, people: context.people }));
  rejectIssues((await findMissingDocuments(entry, context.files).catch(ignoreStoreError)) ?? []);
  return entry;
}

type DraftDeps = Pick<ApplicationDeps, 'store' | 'catalog' | 'files' | 'people' | 'snapshot' | 'clock'>;

/** Path of every application that was never saved. It is the same for all of them, because limits are counted by path. */
const unsavedPath = 'unsaved';

/**
 * Returns the deployment of an unsaved application, after the checks of `PUT`. `path` is the encoded `{bucket}/{path}` of the
 * saved application, or `{bucket}/unsaved`. The saved application provides the secrets that are `***`.
 */
export async function readDraft(
  { clock, ...deps }: DraftDeps,
  { caller, path, application }: { caller: Caller; path: string; application: unknown },
): Promise<Deployment> {
  rejectPerRequestKey(caller, 'try applications');
  requireUnbound(caller, undefined);
  const location = parseApplicationLocation(path);
  if (location === undefined) throw createApplicationNotFoundError();
  requireOwner(caller, location);
  const { maxBytes } = storedEntries.application;
  if (Buffer.byteLength(JSON.stringify(application) ?? '') > maxBytes)
    throw createRequestError('application', `must have at most ${maxBytes} bytes`);
  const stored = await deps.store.find(location.id);
  if (stored === undefined && path !== `${location.bucket}/${unsavedPath}`) throw createApplicationNotFoundError();
  const entry = await readApplication(application, { ...deps, caller, location, snapshot: deps.snapshot(), stored });
  const { id, spelling } = location;
  const nowMs = clock.epochMs();
  const times = { createdAtMs: stored?.createdAtMs ?? nowMs, updatedAtMs: nowMs };
  return deps.catalog.toDeployment({ id, spelling, owner: caller.subject, entry, etag: '', ...times });
}

function withoutResponseFields(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !responseFields.has(key)));
}

/**
 * Returns the IDs of chat deployments that the caller may use. Includes no saved application except the one that the input
 * names. A deployment that the caller may not use looks like one that does not exist.
 */
async function listPossibleModels(input: unknown, { caller, catalog, snapshot }: SaveContext): Promise<ReadonlySet<string>> {
  const properties = isJsonObject(input) ? input.applicationProperties : undefined;
  const model = isJsonObject(properties) ? properties.model : undefined;
  const namedModel = typeof model === 'string' ? await catalog.find(snapshot, model) : undefined;
  const isPossible = (deployment: Deployment): boolean => deployment.type === 'chat' && mayUse(snapshot, caller, deployment);
  const ids = [...snapshot.deployments.values()].filter(isPossible).map(({ id }) => id);
  return new Set(namedModel !== undefined && isPossible(namedModel) ? [...ids, String(model)] : ids);
}

/** Reports addresses that the guard of outgoing calls rejects. Does not resolve host names, so it cannot find all of them. */
function* findEndpointIssues({ endpoint, features, forwardAuthToken }: WrittenEntry, { snapshot }: SaveContext): Iterable<Issue> {
  const guard = new NetGuard(snapshot.configuration.security.allowPrivateNetworks);
  if (endpoint !== undefined) yield* findAddressIssues(guard, ['endpoint'], endpoint);
  for (const name of addressFeatures) {
    const address = features?.[name];
    if (typeof address === 'string') yield* findAddressIssues(guard, ['features', name], address);
  }
  if (forwardAuthToken === true)
    yield { path: ['forwardAuthToken'], message: 'is allowed only for applications in the configuration' };
}

/** The fields that the user wrote, without defaults. */
type WrittenEntry = Partial<ApplicationEntry>;

function* findAddressIssues(guard: NetGuard, path: Issue['path'], address: string): Iterable<Issue> {
  try {
    guard.checkUrl(new URL(address));
  } catch (error) {
    if (!(error instanceof BlockedAddressError)) throw error;
    yield { path, message: `is rejected: ${error.message}` };
  }
}

/** Reports a model that does not exist. Only a configured application may name a model that is created later. */
function* findModelIssues(
  { endpoint, applicationProperties: properties }: ApplicationEntry,
  ids: ReadonlySet<string>,
): Iterable<Issue> {
  if (endpoint !== undefined || properties === undefined || ids.has(String(properties.model))) return;
  yield { path: ['applicationProperties', 'model'], ...unknownDeployment };
}

/** Reports documents outside of the owner's bucket, because an application reads documents with the rights of its owner. */
function* findDocumentIssues(entry: ApplicationEntry, { bucket }: ApplicationLocation): Iterable<Issue> {
  const message = `must be a file of your own bucket, ${filePrefix}${bucket}/…`;
  for (const { path, value } of listDocuments(entry)) if (parseReference(value)?.bucket !== bucket) yield { path, message };
}

/** Returns an issue for each document that is not stored. */
async function findMissingDocuments(entry: ApplicationEntry, files: SaveContext['files']): Promise<readonly Issue[]> {
  const documents = listDocuments(entry).map((document) => ({ ...document, location: parseReference(document.value) }));
  if (documents.length === 0) return [];
  const storedFiles = (await files?.findAll(documents.flatMap(({ location }) => location ?? []))) ?? [];
  const stored = new Set(storedFiles.map(toReference));
  return documents.flatMap(({ path, value, location }) => {
    const message = `names ${value.slice(0, maxReferenceLength)}, which is not stored. Upload it first, or remove it`;
    return location !== undefined && stored.has(toReference(location)) ? [] : [{ path, message }];
  });
}

/** Throws `invalid_request` with the issues, if there are any. */
export function rejectIssues(errors: readonly Issue[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const sentences = errors.slice(0, maxReportedIssues).map(toSentence);
  const hiddenCount = errors.length - sentences.length;
  const message = [...sentences, ...(hiddenCount > 0 ? [`and ${hiddenCount} more`] : [])].join('; ');
  throw new ParleyError('invalid_request', `${message}.`, { param: toParam(first) || null });
}

/** Returns the path of an issue, truncated because a key may be as long as the body. */
function toParam({ path }: Issue): string {
  return truncate(formatPath(path), maxPathLength);
}

function toSentence(issue: Issue): string {
  const { message, hint } = issue;
  return `${toParam(issue) || 'The body'} ${message}${hint === undefined ? '' : ` (${hint})`}`;
}
