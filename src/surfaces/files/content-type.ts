import { toEssence } from '#base/media-type.ts';
import { ParleyError } from '#contract/errors.ts';

/** What programs say that were not told: of a file it is never true. */
const unmeant = 'application/x-www-form-urlencoded';

const byExtension: ReadonlyMap<string, string> = new Map([
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['htm', 'text/html'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
]);

/** The media type a file is stored with: the one it was sent with, else the one its name stands for. Throws `unsupported_media_type`. */
export function toContentType(sent: string | undefined, path: string): string {
  const type = sent?.trim() ?? '';
  const essence = toEssence(type);
  if (type === '' || essence === unmeant) {
    const [, extension = ''] = /\.([^./]+)$/.exec(path) ?? [];
    return byExtension.get(extension.toLowerCase()) ?? 'application/octet-stream';
  }
  if (essence !== undefined) return type;
  throw new ParleyError('unsupported_media_type', 'The Content-Type of the file is no media type.', { param: 'content-type' });
}
