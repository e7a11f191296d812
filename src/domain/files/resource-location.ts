import { tryDecode } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Where a stored file is: decoded, `path` without a leading slash. */
export interface FileLocation {
  readonly bucket: string;
  readonly path: string;
}

/** What is stored in buckets. */
export const resourceKinds = ['files', 'prompts', 'conversations', 'applications'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** Kinds whose contents are stored as they are sent; applications have a store of their own. */
export type ContentKind = Exclude<ResourceKind, 'applications'>;

/** Where something stored is. `path` is empty for a whole bucket, and ends with a slash if it means a folder. */
export interface ResourceLocation extends FileLocation {
  readonly kind: ResourceKind;
}

/** Where a content is. */
export interface ContentLocation extends FileLocation {
  readonly kind: ContentKind;
}

/** Of a path in UTF-8, without its bucket. */
export const maxPathBytes = 1024;
const maxSegmentBytes = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Where `{bucket}/{path}` leads, percent-decoded once; undefined for what nothing can have (docs/wire.md, Files). Titles of
 * conversations are names of prompts and conversations: only a whole path of theirs is bounded, by `isTooLong`.
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

/** Bytes of UTF-8 that the path of a prompt or a conversation has at most, without its bucket. */
export const maxNamedPathBytes = 900;

/** Whether a path is longer than those of its kind may be. */
export function isTooLong({ kind, path }: ResourceLocation): boolean {
  return Buffer.byteLength(path) > (kind === 'files' ? maxPathBytes : maxNamedPathBytes);
}

/** Whether a place is a folder, or a whole bucket. */
export function isFolder({ path }: Pick<ResourceLocation, 'path'>): boolean {
  return path === '' || path.endsWith('/');
}

/** The place of a folder that is written without its slash. */
export function toFolder<Location extends ResourceLocation>(location: Location): Location {
  return isFolder(location) ? location : { ...location, path: `${location.path}/` };
}

/** The place that `{kind}/{bucket}/{path}` means; undefined for a text that means none. */
export function parseResourceUrl(url: string): ResourceLocation | undefined {
  const kind = resourceKinds.find((resourceKind) => url.startsWith(`${resourceKind}/`));
  return kind && parseLocation(kind, url.slice(kind.length + 1));
}

/** The one spelling of a place: `{kind}/{bucket}/{path}`, each segment percent-encoded. */
export function toUrl({ kind, bucket, path }: ResourceLocation): string {
  return `${kind}/${[bucket, ...path.split('/')].map(encodeURIComponent).join('/')}`;
}

/** Where the index keeps what a bucket has of a kind. Names of users' buckets have no such character. */
export function toIndexBucket({ kind, bucket }: Pick<ContentLocation, 'kind' | 'bucket'>): string {
  return kind === 'files' ? bucket : `~${kind}-${bucket}`;
}

function isSegment(segment: string, isBounded = true): boolean {
  if (segment === '' || segment === '.' || segment === '..') return false;
  return !isBounded || Buffer.byteLength(segment) <= maxSegmentBytes;
}

/** Something stored that is to be moved or copied within its kind; neither place is a folder. */
export interface Relocation<Kind extends ResourceKind = ResourceKind> {
  readonly from: ResourceLocation & { readonly kind: Kind };
  readonly to: ResourceLocation & { readonly kind: Kind };
  /** `to` as it was written. */
  readonly destinationUrl: string;
  /** Whether what is at `to` is to be replaced. */
  readonly replaces: boolean;
}

export function sourceNotFound(): ParleyError {
  return new ParleyError('invalid_request', 'sourceUrl names nothing that is stored.', { param: 'sourceUrl' });
}

export function destinationExists(): ParleyError {
  const message = 'destinationUrl names something that is stored already; send "overwrite": true to replace it.';
  return new ParleyError('invalid_request', message, { param: 'destinationUrl' });
}
