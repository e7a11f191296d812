import {
  type ContentPlace,
  type FilePlace,
  fromUrl,
  isFolder,
  type ResourcePlace,
  resourceKinds,
  toPlace,
  toUrl,
} from './resource-place.ts';

/** How every reference to a file begins. */
export const fileScheme = 'files/';
/** Clients resolve references against the API. The host is a placeholder for any host. */
const apiBase = 'http://parley.invalid/v1/';
const schemeAtStart = /^[a-z][a-z0-9+.-]{0,30}:/i;
/** Exceeds the length of any reference. A path has at most 1,024 bytes, and each byte may be encoded as three characters. */
const maxReferenceChars = 8_192;

/** The place of a file that `{bucket}/{path}` means, percent-decoded once; undefined for what no file can have (docs/wire.md, Files). */
export function toFilePlace(encoded: string): ContentPlace | undefined {
  const place = toPlace('files', encoded);
  return place === undefined || isFolder(place) ? undefined : place;
}

/** The place that a reference names; undefined for a text that is no reference. */
export function fromReference(reference: string): ContentPlace | undefined {
  return reference.startsWith(fileScheme) ? toFilePlace(reference.slice(fileScheme.length)) : undefined;
}

/** The one spelling of a reference: `files/{bucket}/{path}`, each segment percent-encoded. */
export function toReference({ bucket, path }: FilePlace): string {
  return toUrl({ kind: 'files', bucket, path });
}

/**
 * Returns the stored resource that a client may read if it follows this URL, however the URL is written: with dot segments, white space,
 * another case, or a fragment. Returns `elsewhere` for a URL that leads to no stored resource, and `malformed` for one that names a
 * resource in a form that Parley does not accept.
 */
export function toReferencedPlace(url: string): ResourcePlace | 'elsewhere' | 'malformed' {
  const head = url.slice(0, 64).trimStart();
  if (schemeAtStart.test(head) && !/^https?:/i.test(head)) return 'elsewhere';
  if (url.length > maxReferenceChars) return /^https?:\/\//i.test(head) ? 'elsewhere' : 'malformed';
  if (!URL.canParse(url, apiBase)) return 'elsewhere';
  const { origin, pathname } = new URL(url, apiBase);
  // Pattern bound: a reference of at most 8,192 characters.
  const [, encoded = ''] = /\/v1\/(.*)$/.exec(pathname) ?? [];
  const isOfService = origin === new URL(apiBase).origin;
  if (!isOfService || encoded === '') return 'elsewhere';
  const slash = encoded.indexOf('/');
  const kind = resourceKinds.find((each) => each === encoded.slice(0, slash).toLowerCase());
  if (kind === undefined) return 'elsewhere';
  return fromUrl(`${kind}${encoded.slice(slash)}`) ?? 'malformed';
}
