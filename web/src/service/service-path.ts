import { tryDecode } from '#base/http/url-path.ts';

/** Kinds of reference targets: stored files, and the files of a shared chat. */
const referenceKinds: ReadonlySet<string> = new Set(['files', 'shared-chats']);
// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop some of them from an address
const hasControl = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Returns the canonical service path of a message's file reference. Returns undefined for any other text. Assistants write
 * references, so a browser that resolves `..` must never lead one to another path.
 */
export function toReferencePath(reference: string): string | undefined {
  // A citation has a fragment, such as `#page=3`, which browsers do not send.
  const [path = ''] = reference.split('#', 1);
  if (/[?\\]/.test(path)) return undefined;
  const decoded = tryDecode(path);
  if (decoded === undefined || hasControl.test(decoded)) return undefined;
  const segments = decoded.split('/');
  const [kind = ''] = segments;
  const isPlain = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  if (!isPlain || segments.length < 3 || !referenceKinds.has(kind)) return undefined;
  return `v1/${segments.map(encodeURIComponent).join('/')}`;
}

/** Whether a browser requests exactly this path of the service, without resolving it to another one. */
export function isServicePath(path: string): boolean {
  const [location = ''] = path.split(/[?#]/, 1);
  const [first = '', ...tail] = location.split('/');
  if (!/^[\w-]+$/.test(first) || /[\\\s]/.test(location) || hasControl.test(location)) return false;
  return tail.every((segment, index) => (segment !== '' || index === tail.length - 1) && !/^(?:\.|%2e){1,2}$/i.test(segment));
}

/** Returns the decoded file name of a reference. */
export function getFileName(reference: string): string {
  const [path = ''] = reference.split('#', 1);
  const last = path.split('/').at(-1) ?? path;
  return tryDecode(last) ?? last;
}
