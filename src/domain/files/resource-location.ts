import { tryDecode } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Decoded location of a stored file. `path` has no leading slash. */
export interface FileLocation {
  readonly bucket: string;
  readonly path: string;
}

/** Kinds of resources in buckets. */
export const resourceKinds = ['files', 'prompts', 'conversations', 'applications'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** Kinds whose contents are stored as received. Applications have a separate store. */
export type ContentKind = Exclude<ResourceKind, 'applications'>;

/** Location of a stored resource. `path` is empty for a complete bucket, and has a trailing slash for a folder. */
export interface ResourceLocation extends FileLocation {
  readonly kind: ResourceKind;
}

/** Location of a resource whose content is stored as received. */
export interface ContentLocation extends FileLocation {
  readonly kind: ContentKind;
}

/** Maximum number of UTF-8 bytes in a path, without the bucket. */
export const maxPathBytes = 1024;
const maxSegmentBytes = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Parses `{bucket}/{path}` and percent-decodes it once. Returns undefined for invalid locations (docs/wire.md, Files). Clients
 * put titles of any length into the names of prompts and conversations. For that reason, their segments have no length limit,
 * and `isTooLong` bounds only the complete path.
 */
export function parseLocation<Kind extends ResourceKind>(
  kind: Kind,
  encoded: string,
): (ResourceLocation & { readonly kind: Kind }) | undefined {
  const decoded = tryDecode(encoded);
  if (decoded === undefined || controlCharacter.test(decoded)) return undefined;
  const [bucket = '', ...segments] = decoded.split('/');
  const path = segments.join('/');
  if (segments.at(-1) === '') segments.pop();
  const isFile = kind === 'files';
  if (!isSegment(bucket) || !segments.every((segment) => isSegment(segment, isFile))) return undefined;
  return isFile && Buffer.byteLength(path) > maxPathBytes ? undefined : { kind, bucket, path };
}

/** Maximum number of UTF-8 bytes in the path of a prompt or a conversation, without the bucket. */
export const maxNamedPathBytes = 900;

/** Returns whether a path exceeds the maximum of its kind. */
export function isTooLong({ kind, path }: ResourceLocation): boolean {
  return Buffer.byteLength(path) > (kind === 'files' ? maxPathBytes : maxNamedPathBytes);
}

/** Returns whether a location is a folder or a complete bucket. */
export function isFolder({ path }: Pick<ResourceLocation, 'path'>): boolean {
  return path === '' || path.endsWith('/');
}

/** Returns the location with the trailing slash of a folder. */
export function toFolder<Location extends ResourceLocation>(location: Location): Location {
  return isFolder(location) ? location : { ...location, path: `${location.path}/` };
}

/** Returns the location that `{kind}/{bucket}/{path}` names, or undefined for any other text. */
export function parseResourceUrl(url: string): ResourceLocation | undefined {
  const kind = resourceKinds.find((resourceKind) => url.startsWith(`${resourceKind}/`));
  return kind && parseLocation(kind, url.slice(kind.length + 1));
}

/** Returns the canonical spelling of a location: `{kind}/{bucket}/{path}`, with each segment percent-encoded. */
export function toUrl({ kind, bucket, path }: ResourceLocation): string {
  return `${kind}/${[bucket, ...path.split('/')].map(encodeURIComponent).join('/')}`;
}

/** Returns the name under which the index stores resources of a kind in a bucket. Names of user buckets do not contain `~`. */
export function toIndexBucket({ kind, bucket }: Pick<ContentLocation, 'kind' | 'bucket'>): string {
  return kind === 'files' ? bucket : `~${kind}-${bucket}`;
}

function isSegment(segment: string, isBounded = true): boolean {
  if (segment === '' || segment === '.' || segment === '..') return false;
  return !isBounded || Buffer.byteLength(segment) <= maxSegmentBytes;
}

/** A resource to move or copy within its kind. Both locations are resources, not folders. */
export interface Relocation<Kind extends ResourceKind = ResourceKind> {
  readonly from: ResourceLocation & { readonly kind: Kind };
  readonly to: ResourceLocation & { readonly kind: Kind };
  /** `to` as the client wrote it. */
  readonly destinationUrl: string;
  /** Whether to replace a resource at `to`. */
  readonly replaces: boolean;
}

export function createSourceNotFoundError(): ParleyError {
  return new ParleyError('invalid_request', 'sourceUrl does not name a stored resource.', { param: 'sourceUrl' });
}

export function createDestinationExistsError(): ParleyError {
  const message = 'destinationUrl names an existing resource. Send "overwrite": true to replace it.';
  return new ParleyError('invalid_request', message, { param: 'destinationUrl' });
}

/** Prefix of every reference to a file. */
export const filePrefix = 'files/';
/** Base URL of the API, against which clients resolve references. The host is a placeholder. */
const apiBase = 'http://parley.invalid/v1/';
const schemeAtStart = /^[a-z][a-z0-9+.-]{0,30}:/i;
/** Exceeds the length of any reference. A path has at most 1,024 bytes, and each byte may be encoded as three characters. */
const maxReferenceChars = 8_192;

/**
 * Parses `{bucket}/{path}` and percent-decodes it once. Returns undefined for invalid locations of files (docs/wire.md, Files).
 */
export function parseFileLocation(encoded: string): ContentLocation | undefined {
  const location = parseLocation('files', encoded);
  return location === undefined || isFolder(location) ? undefined : location;
}

/** Returns the location that a reference names, or undefined if the text is not a reference. */
export function parseReference(reference: string): ContentLocation | undefined {
  return reference.startsWith(filePrefix) ? parseFileLocation(reference.slice(filePrefix.length)) : undefined;
}

/** Returns the canonical spelling of a reference: `files/{bucket}/{path}`, with each segment percent-encoded. */
export function toReference({ bucket, path }: FileLocation): string {
  return toUrl({ kind: 'files', bucket, path });
}

/**
 * Returns the stored resource that a client may read if it follows this URL. Spellings with dot segments, white space, another
 * case, or a fragment also count. Returns `elsewhere` for a URL that leads to no stored resource, and `malformed` for one that
 * names a resource in a form that Parley does not accept.
 */
export function resolveReference(url: string): ResourceLocation | 'elsewhere' | 'malformed' {
  const start = url.slice(0, 64).trimStart();
  if (schemeAtStart.test(start) && !/^https?:/i.test(start)) return 'elsewhere';
  if (url.length > maxReferenceChars) return /^https?:\/\//i.test(start) ? 'elsewhere' : 'malformed';
  if (!URL.canParse(url, apiBase)) return 'elsewhere';
  const { origin, pathname } = new URL(url, apiBase);
  // Pattern bound: a reference of at most 8,192 characters.
  const [, encoded = ''] = /\/v1\/(.*)$/.exec(pathname) ?? [];
  const isServiceUrl = origin === new URL(apiBase).origin;
  if (!isServiceUrl || encoded === '') return 'elsewhere';
  const slash = encoded.indexOf('/');
  const kind = resourceKinds.find((resourceKind) => resourceKind === encoded.slice(0, slash).toLowerCase());
  if (kind === undefined) return 'elsewhere';
  return parseResourceUrl(`${kind}${encoded.slice(slash)}`) ?? 'malformed';
}
