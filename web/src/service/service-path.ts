import { tryDecode } from '#base/http/url-path.ts';

/** First segments of references: to stored files, and to the files of a shared chat. */
const referenceKinds: ReadonlySet<string> = new Set(['files', 'shared-chats']);
// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers remove some of them from a URL
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Returns the canonical service path of a file reference in a message, or undefined for any other text. Models write references,
 * so a browser must never resolve `..` in one to another path of the service.
 */
export function toReferencePath(reference: string): string | undefined {
  // A citation can have a fragment, such as `#page=3`, which browsers do not send.
  const [path = ''] = reference.split('#', 1);
  if (/[?\\]/.test(path)) return undefined;
  const decoded = tryDecode(path);
  if (decoded === undefined || controlCharacter.test(decoded)) return undefined;
  const segments = decoded.split('/');
  const [kind = ''] = segments;
  const isPlain = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  if (!isPlain || segments.length < 3 || !referenceKinds.has(kind)) return undefined;
  return `v1/${segments.map(encodeURIComponent).join('/')}`;
}

/** Returns whether a browser requests exactly this path of the service, and does not resolve it to another one. */
export function isServicePath(path: string): boolean {
  const [location = ''] = path.split(/[?#]/, 1);
  const [first = '', ...tail] = location.split('/');
  if (!/^[\w-]+$/.test(first) || /[\\\s]/.test(location) || controlCharacter.test(location)) return false;
  return tail.every((segment, index) => (segment !== '' || index === tail.length - 1) && !/^(?:\.|%2e){1,2}$/i.test(segment));
}

/** Returns the decoded file name of a reference. */
export function getFileName(reference: string): string {
  const [path = ''] = reference.split('#', 1);
  const last = path.split('/').at(-1) ?? path;
  return tryDecode(last) ?? last;
}
