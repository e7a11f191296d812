import { isJsonObject } from '#base/json/json.ts';
import type { Attachment } from '#contract/chat/message.ts';
import { readBucket } from './deployments.ts';
import { encodePath, type Service, type UploadRequest } from './service.ts';
import { ServiceError } from './service-error.ts';

export interface UploadOptions extends UploadRequest {
  /** Whether the chat is temporary, so that the service must not store its files. */
  readonly isTemporary?: boolean;
}

/** Error code for a file that is too large for a temporary chat. */
export const fileNotStored = 'file_not_kept';
/** Maximum size of inline content. Larger files are stored and referenced. */
export const maxInlineBytes = 512 * 1024;
const textTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|[^;]*\+json|[^;]*\+xml)(;|$))/i;
const textNames =
  /\.(md|txt|csv|tsv|log|json|jsonl|ya?ml|xml|html?|css|[jt]sx?|py|rb|go|rs|java|kt|c|h|cpp|sh|sql|toml|ini|env)$/i;

/** Creates an attachment from a file, and stores a large file. Throws `ServiceError`. */
export async function attachFile(service: Service, file: File, options: UploadOptions): Promise<Attachment> {
  const { name: title, size } = file;
  const type = getFileType(file);
  const isText = textTypes.test(type);
  if (size <= maxInlineBytes) return { type, title, data: isText ? await file.text() : await toBase64(file) };
  if (options.isTemporary) throw new ServiceError({ status: 0, code: fileNotStored, message: '' });
  const path = `${encodePath(await readBucket(service))}/chat/${crypto.randomUUID()}/${encodeURIComponent(title)}`;
  const answer = await service.upload(`v1/files/${path}`, file, options);
  const url = isJsonObject(answer) && typeof answer.url === 'string' ? answer.url : `files/${path}`;
  return { type, title, url };
}

/** Returns the MIME type of a file. The browser does not know the types of many text files. */
export function getFileType({ name, type }: Pick<File, 'name' | 'type'>): string {
  return type || (textNames.test(name) ? 'text/plain' : 'application/octet-stream');
}

async function toBase64(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let index = 0; index < bytes.length; index += 32_768)
    text += String.fromCharCode(...bytes.subarray(index, index + 32_768));
  return btoa(text);
}
