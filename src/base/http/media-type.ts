const token = "[\\w!#$%&'*+.^`|~-]+";
// Pattern bound: a header of at most 16 kB, built from constants.
const mediaType = new RegExp(
  `^[\\t ]*(${token}/${token})[\\t ]*(?:;[\\t ]*(?:${token}=(?:${token}|"(?:[^"\\\\\\x00-\\x1f\\x7f]|\\\\[\\x20-\\x7e])*")[\\t ]*)?)*$`,
  'i',
);
const maxChars = 255;

/**
 * Type and subtype of a media type in lower case, without its parameters (RFC 9110, 8.3.1); undefined for anything else, such
 * as a list of them, of which a browser would take the last.
 */
export function toEssence(text: string): string | undefined {
  return text.length > maxChars ? undefined : mediaType.exec(text)?.[1]?.toLowerCase();
}
