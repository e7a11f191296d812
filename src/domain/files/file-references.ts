import type { ChatRequest } from '#contract/chat-request.ts';
import type { ContentPart, Message } from '#contract/message.ts';
import type { Caller } from '../callers/caller.ts';
import { isLedByAnother } from '../callers/chain.ts';
import { bucketOf } from './bucket.ts';

/** Where a stored file is: decoded, `path` without a leading slash. */
export interface FilePlace {
  readonly bucket: string;
  readonly path: string;
}

/** How every reference begins. */
export const fileScheme = 'files/';
/** Of a path in UTF-8, without its bucket. */
export const maxPathBytes = 1024;
const maxSegmentBytes = 255;
const maxNamedFiles = 1000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const hasControl = /[\u0000-\u001f\u007f-\u009f]/;

/** The place that `{bucket}/{path}` means, percent-decoded once; undefined for what no file can have (docs/wire.md, Files). */
export function toFilePlace(encoded: string): FilePlace | undefined {
  const place = toFolder(encoded);
  return place === undefined || place.path === '' || place.path.endsWith('/') ? undefined : place;
}

/** The same for what files lie below: `path` is empty for the whole bucket, else it ends with a slash if it means a folder. */
export function toFolder(encoded: string): FilePlace | undefined {
  const decoded = decode(encoded);
  if (decoded === undefined || hasControl.test(decoded)) return undefined;
  const [bucket = '', ...segments] = decoded.split('/');
  const path = segments.join('/');
  if (segments.at(-1) === '') segments.pop();
  return isSegment(bucket) && segments.every(isSegment) && Buffer.byteLength(path) <= maxPathBytes ? { bucket, path } : undefined;
}

/** The place that a reference names; undefined for a text that is no reference. */
export function fromReference(reference: string): FilePlace | undefined {
  return reference.startsWith(fileScheme) ? toFilePlace(reference.slice(fileScheme.length)) : undefined;
}

/** The one spelling of a reference: `files/{bucket}/{path}`, each segment percent-encoded. */
export function toReference({ bucket, path }: FilePlace): string {
  return fileScheme + [bucket, ...path.split('/')].map(encodeURIComponent).join('/');
}

/**
 * The files a caller hands on with a request: those of its own bucket that it names, or those it was handed itself.
 * On a path with an application that somebody else saved, what an assistant said does not count: that application may have
 * written it, and would hand itself what it likes.
 */
export function filesHandedOn(
  caller: Caller,
  { request, path }: { request: ChatRequest; path: readonly string[] },
): ReadonlySet<string> {
  if (caller.chain !== null) return caller.chain.files;
  const bucket = bucketOf(caller.subject);
  const said = isLedByAnother({ ...caller, chain: { path } })
    ? request.messages.filter(({ role }) => role !== 'assistant')
    : request.messages;
  const files = new Set<string>();
  for (const text of urlsOf(said)) {
    const place = fromReference(text);
    if (place?.bucket === bucket) files.add(toReference(place));
    if (files.size === maxNamedFiles) break;
  }
  return files;
}

/** Addresses in a request, those of the newest message first. */
function* urlsOf(messages: readonly Message[]): Iterable<string> {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { custom_content: custom, content } = messages[index] as Message;
    for (const { url, reference_url: reference } of custom?.attachments ?? []) {
      if (url !== undefined) yield url;
      if (reference !== undefined) yield reference;
    }
    if (Array.isArray(content)) for (const part of content) yield* textsOf(part);
  }
}

/** What an `image_url`, `file` or like part points to: `{type: "file", file: {file_data}}`. */
function* textsOf(part: ContentPart): Iterable<string> {
  const pointer = part.type === 'text' || !Object.hasOwn(part, part.type) ? undefined : part[part.type];
  const texts = typeof pointer === 'object' && pointer !== null ? Object.values(pointer) : [pointer];
  for (const text of texts) if (typeof text === 'string') yield text;
}

function isSegment(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && Buffer.byteLength(segment) <= maxSegmentBytes;
}

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
