import { tryDecode } from '#base/http/url-path.ts';

/** Ids that need no look: one segment of ordinary characters. */
const plain = /^[\w-][\w.-]{0,200}$/;

/** A deployment id out of percent-encoded path segments, decoded once; undefined for what can be no id (docs/wire.md, Paths). */
export function toDeploymentId(encoded: string): string | undefined {
  if (plain.test(encoded)) return encoded;
  const id = tryDecode(encoded);
  return id !== undefined && isDeploymentId(id) ? id : undefined;
}

/** Whether a text can be the id of a deployment: no empty, `.` or `..` segments, no control characters, at most 1024 chars. */
export function isDeploymentId(id: string): boolean {
  if (id.length > 1024 || hasControl.test(id)) return false;
  return id.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const hasControl = /[\u0000-\u001f\u007f]/;
