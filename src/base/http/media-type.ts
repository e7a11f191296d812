const token = "[\\w!#$%&'*+.^`|~-]+";
// Pattern bound: at most `maxChars` characters.
const mediaType = new RegExp(
  `^[\\t ]*(${token}/${token})[\\t ]*(?:;[\\t ]*(?:${token}=(?:${token}|"(?:[^"\\\\\\x00-\\x1f\\x7f]|\\\\[\\x20-\\x7e])*")[\\t ]*)?)*$`,
  'i',
);
const maxChars = 255;

/**
 * Returns the type and subtype of a media type in lower case, without parameters (RFC 9110, 8.3.1). Returns undefined for any
 * other text, such as a list of media types. A browser would use the last type of a list.
 */
export function toEssence(text: string): string | undefined {
  return text.length > maxChars ? undefined : mediaType.exec(text)?.[1]?.toLowerCase();
}

/** Returns whether a MIME type matches an accepted pattern, such as `image/*`. Ignores parameters. */
export function isAcceptedType(type: string, accepted: readonly string[]): boolean {
  const [essence = ''] = type.split(';');
  return accepted.some(
    (pattern) => pattern === '*/*' || pattern === essence || (pattern.endsWith('/*') && essence.startsWith(pattern.slice(0, -1))),
  );
}
