import { tryDecode } from '#base/http/url-path.ts';

/** Returns the message of the error for an application that does not exist or is not shared. The page recognizes it. */
export function toUnsharedMessage(id: string): string {
  return `There is no application "${id}", or its owner has not shared it with you.`;
}

/** IDs that are valid without further checks: one segment of ordinary characters. */
const plainPattern = /^[\w-][\w.-]{0,200}$/;

/**
 * Decodes percent-encoded path segments once and returns them as a deployment ID. Returns undefined if the ID is invalid
 * (docs/wire.md, Paths).
 */
export function toDeploymentId(encoded: string): string | undefined {
  if (plainPattern.test(encoded)) return encoded;
  const id = tryDecode(encoded);
  return id !== undefined && isDeploymentId(id) ? id : undefined;
}

/**
 * Returns whether a text is a valid deployment ID: no empty, `.`, or `..` segments, no control characters, at most 1024
 * characters.
 */
export function isDeploymentId(id: string): boolean {
  if (id.length > 1024 || controlPattern.test(id)) return false;
  return id.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlPattern = /[\u0000-\u001f\u007f]/;
