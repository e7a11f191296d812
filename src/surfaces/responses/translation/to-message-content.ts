import { toTextPart } from '#contract/chat/content.ts';
import type { Attachment, ContentPart } from '#contract/chat/message.ts';
import { createRequestError, requireUrlLength } from '#contract/errors/request-error.ts';
import type { InputPart } from '#contract/responses/input-items.ts';

/** Content of a message in the chat completions format. */
export interface MessageContent {
  readonly parts: ContentPart[];
  /** Files that are available only by URL. */
  readonly attachments: Attachment[];
}

/** Maximum number of characters of a file extension and its dot. */
const maxExtensionChars = 8;
/** MIME types by file extension. */
const mimeTypes: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);

/**
 * Converts the parts of a message or a tool output. `path` locates them. Omits a file in another vendor's store if `mayBeRelayed`
 * is set. Otherwise, throws `invalid_request` for it.
 */
export function toMessageContent(content: string | readonly InputPart[], path: string, mayBeRelayed: boolean): MessageContent {
  const result: MessageContent = { parts: [], attachments: [] };
  if (typeof content === 'string') {
    if (content !== '') result.parts.push(toTextPart(content));
    return result;
  }
  content.forEach((part, index) => {
    if (mayBeRelayed && hasFileId(part)) return;
    addPart(part, result, `${path}[${index}]`);
  });
  return result;
}

function addPart(part: InputPart, { parts, attachments }: MessageContent, path: string): void {
  switch (part.type) {
    case 'refusal':
      parts.push(toTextPart(part.refusal));
      return;
    case 'input_image':
      if (part.image_url === undefined) throw createUnreadableFileError(part.file_id, path, 'image_url');
      requireUrlLength(part.image_url, `${path}.image_url`);
      if (isStored(part.image_url)) attachments.push({ type: getTypeByUrl(part.image_url) ?? 'image/png', url: part.image_url });
      else parts.push(imagePart(part.image_url, part.detail));
      return;
    case 'input_file':
      addFile(part, { parts, attachments }, path);
      return;
    default:
      if (part.text !== '') parts.push(toTextPart(part.text));
  }
}

function addFile(part: InputPart & { type: 'input_file' }, { parts, attachments }: MessageContent, path: string): void {
  const { filename, file_data: data, file_url: url, file_id: id } = part;
  if (data !== undefined) {
    const type = getTypeByName(filename ?? '') ?? 'application/pdf';
    const file_data = data.startsWith('data:') ? data : `data:${type};base64,${data}`;
    parts.push({ type: 'file', file: { filename: filename ?? 'document.pdf', file_data } });
  } else if (url !== undefined) {
    requireUrlLength(url, `${path}.file_url`);
    const type = filename === undefined ? getTypeByUrl(url) : getTypeByName(filename);
    attachments.push({ type: type ?? 'application/octet-stream', ...(filename && { title: filename }), url });
  } else throw createUnreadableFileError(id, path, 'file_data');
}

function hasFileId(part: InputPart): boolean {
  return 'file_id' in part && part.file_id !== undefined;
}

function imagePart(url: string, detail: string | undefined): ContentPart {
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && detail !== 'auto' && { detail }) } };
}

function createUnreadableFileError(id: string | undefined, path: string, instead: string) {
  return id === undefined
    ? createRequestError(`${path}.${instead}`, 'is required')
    : createRequestError(`${path}.file_id`, `refers to a file that this deployment cannot read. Send ${instead}`);
}

/** Returns whether the URL refers to a file stored in Parley. */
function isStored(url: string): boolean {
  return url.startsWith('files/');
}

/** Returns the MIME type that the path of a URL ends with, without query and fragment. */
function getTypeByUrl(url: string): string | undefined {
  const pathEnd = url.search(/[?#]/);
  return getTypeByExtension(pathEnd === -1 ? url : url.slice(0, pathEnd));
}

/** A file name may contain `#` and `?`, or be the end of a URL. */
function getTypeByName(name: string): string | undefined {
  return getTypeByExtension(name) ?? getTypeByUrl(name);
}

function getTypeByExtension(path: string): string | undefined {
  const end = path.slice(-maxExtensionChars);
  const dot = end.lastIndexOf('.');
  return dot === -1 ? undefined : mimeTypes.get(end.slice(dot + 1).toLowerCase());
}
