import { isJsonObject } from '#base/json/json.ts';
import { AddressRefused, NetGuard } from '#base/net/net-guard.ts';
import { truncate } from '#base/text/shorten.ts';
import { readApplicationEntry, withEntryNames } from '#contract/configuration/application-entry.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { type Fault, formatPath } from '#contract/configuration/fault.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { mayUse } from '#domain/callers/access.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ApplicationPlace } from '#domain/deployments/application-place.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { addressFeatures } from '#domain/deployments/features.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import { fileScheme, fromReference, toReference } from '#domain/files/file-references.ts';
import { StoreFault } from '#domain/store-fault.ts';

const mostToldFaults = 5;
const longestPath = 200;

/** An application that is to be saved. */
interface Saving {
  readonly caller: Caller;
  readonly place: ApplicationPlace;
  readonly snapshot: ConfigSnapshot;
  readonly catalog: Catalog;
  /** As it is now; undefined where it is new. */
  readonly stored: StoredApplication | undefined;
  /** Undefined: none are stored here. */
  readonly files: Pick<FileIndex, 'findAll'> | undefined;
}

/** Each has a row beside the application. */
const mostRoles = 100;
const longestReference = 200;
const answerFields = new Set(['id', 'etag', 'createdAt', 'updatedAt', 'created_at', 'updated_at', 'warnings']);

/** The entry in a body, which may also be what a GET answered. Throws invalid_request, which names the faults. */
export async function readApplication(body: unknown, saving: Saving): Promise<ApplicationEntry> {
  const written = withEntryNames(isJsonObject(body) ? withoutAnswerFields(body) : body);
  const ids = await possibleModels(written, saving);
  const storedProperties = saving.stored?.entry.applicationProperties;
  const { entry, faults } = readApplicationEntry(written, { ids, storedProperties });
  refuseFaults(faults);
  const { place } = saving;
  refuseFaults([
    ...roleFaults(entry),
    ...endpointFaults(entry, saving),
    ...modelFaults(entry, ids),
    ...documentFaults(entry, place),
  ]);
  refuseFaults(await missingDocuments(entry, saving.files));
  return entry;
}

function withoutAnswerFields(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !answerFields.has(key)));
}

/** Of the deployments that users made only the one that is named; nobody learns of those that are closed to them. */
async function possibleModels(written: unknown, { caller, catalog, snapshot }: Saving): Promise<ReadonlySet<string>> {
  const properties = isJsonObject(written) ? written.applicationProperties : undefined;
  const model = isJsonObject(properties) ? properties.model : undefined;
  const named = typeof model === 'string' ? await catalog.find(snapshot, model) : undefined;
  const isPossible = (each: Deployment): boolean => each.type === 'chat' && mayUse(snapshot, caller, each);
  const ids = [...snapshot.deployments.values()].filter(isPossible).map(({ id }) => id);
  return new Set(named !== undefined && isPossible(named) ? [...ids, String(model)] : ids);
}

function* roleFaults({ userRoles = [] }: ApplicationEntry): Iterable<Fault> {
  if (userRoles.length > mostRoles) yield { path: ['userRoles'], message: `must be ${mostRoles} roles at most` };
}

/** What the guard of outgoing calls will refuse is said at once, as far as the address itself tells. */
function* endpointFaults({ endpoint, features, forwardAuthToken }: WrittenEntry, { snapshot }: Saving): Iterable<Fault> {
  const guard = new NetGuard(snapshot.configuration.security.allowPrivateNetworks);
  if (endpoint !== undefined) yield* addressFaults(guard, ['endpoint'], endpoint);
  for (const name of addressFeatures) {
    const address = features?.[name];
    if (typeof address === 'string') yield* addressFaults(guard, ['features', name], address);
  }
  if (forwardAuthToken === true)
    yield { path: ['forwardAuthToken'], message: 'is for applications of the configuration: nobody else is trusted with tokens' };
}

/** What somebody wrote, without defaults. */
type WrittenEntry = Partial<ApplicationEntry>;

function* addressFaults(guard: NetGuard, path: Fault['path'], address: string): Iterable<Fault> {
  try {
    guard.checkUrl(new URL(address));
  } catch (thrown) {
    if (!(thrown instanceof AddressRefused)) throw thrown;
    yield { path, message: `cannot be called: ${thrown.message}` };
  }
}

/** Of a configured application the model may be one that is made later; here it must be there. */
function* modelFaults(
  { endpoint, applicationProperties: properties }: ApplicationEntry,
  ids: ReadonlySet<string>,
): Iterable<Fault> {
  if (endpoint !== undefined || properties === undefined || ids.has(String(properties.model))) return;
  yield { path: ['applicationProperties', 'model'], message: 'names a deployment that does not exist, or is not open to you' };
}

/** An application is answered with the documents of its maker: it names nobody else's. */
function* documentFaults(entry: ApplicationEntry, { bucket }: ApplicationPlace): Iterable<Fault> {
  const message = `must be a file of your own bucket, ${fileScheme}${bucket}/…`;
  for (const { path, reference } of documentsIn(entry)) if (!isOf(bucket, reference)) yield { path, message };
}

/** Documents that nobody could look anything up in; none while nobody can tell. */
async function missingDocuments(entry: ApplicationEntry, files: Saving['files']): Promise<readonly Fault[]> {
  try {
    return await findMissing(entry, files);
  } catch (thrown) {
    if (thrown instanceof StoreFault) return [];
    throw thrown;
  }
}

async function findMissing(entry: ApplicationEntry, files: Saving['files']): Promise<readonly Fault[]> {
  const documents = documentsIn(entry).map((each) => ({ ...each, place: fromReference(each.reference) }));
  if (documents.length === 0) return [];
  const found = (await files?.findAll(documents.flatMap(({ place }) => place ?? []))) ?? [];
  const stored = new Set(found.map(toReference));
  return documents.flatMap(({ path, reference, place }) => {
    const message = `names ${reference.slice(0, longestReference)}, which is not stored; upload it first, or leave it out`;
    return place !== undefined && stored.has(toReference(place)) ? [] : [{ path, message }];
  });
}

function documentsIn({ applicationProperties: properties }: ApplicationEntry): { path: Fault['path']; reference: string }[] {
  const written = properties?.document_relative_url;
  const path = ['applicationProperties', 'document_relative_url'];
  if (typeof written === 'string') return [{ path, reference: written }];
  return Array.isArray(written) ? written.map((reference, index) => ({ path: [...path, index], reference })) : [];
}

function isOf(bucket: string, reference: string): boolean {
  return fromReference(reference)?.bucket === bucket;
}

/** Throws `invalid_request` that names the faults, if there are any. */
export function refuseFaults(faults: readonly Fault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const told = faults.slice(0, mostToldFaults).map(toSentence);
  const more = faults.length - told.length;
  const message = [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  throw new ParleyError('invalid_request', `${message}.`, { param: toParam(first) || null });
}

/** Keys may be as long as the body. */
function toParam({ path }: Fault): string {
  return truncate(formatPath(path), longestPath);
}

function toSentence(fault: Fault): string {
  const { message, hint } = fault;
  return `${toParam(fault) || 'The body'} ${message}${hint === undefined ? '' : ` (${hint})`}`;
}
