import {
  type ContentLocation,
  type FileLocation,
  isFolder,
  parseLocation,
  parseResourceUrl,
  type ResourceLocation,
  resourceKinds,
  toUrl,
} from './resource-location.ts';

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
