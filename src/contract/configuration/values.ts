import ipaddr from 'ipaddr.js';
import { isCalendarDate } from '../api-version.ts';

/** Returns whether a URL has no user name and no password. Returns true if the text is not a URL. */
export function isWithoutUser(text: string): boolean {
  const { username, password } = URL.parse(text) ?? { username: '', password: '' };
  return username === '' && password === '';
}

/** Returns whether a text is an absolute http: or https: URL. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Returns whether a text is an IP address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...extraParts] = text.split('/');
  const bits = ipaddr.IPv4.isValidFourPartDecimal(address) ? 32 : ipaddr.IPv6.isValid(address) ? 128 : 0;
  if (bits === 0 || extraParts.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/** Returns whether a text is a host name without scheme, port, or path. */
export function isHostName(text: string): boolean {
  const looksLikeAddress = /^[\d.]+$/.test(text);
  return !looksLikeAddress && text.length <= 253 && /^(?!-)[\w-]{1,63}(?<!-)(\.(?!-)[\w-]{1,63}(?<!-))*$/.test(text);
}

/** Returns whether a text is a valid header field value. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Returns whether a text is a valid header field name (RFC 9110, token). */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(text);
}

/**
 * Returns whether a text is a path prefix without a slash at the start or end. Segments can contain letters, digits, `.`, `_`,
 * `~`, and `-`, and cannot be `.` or `..`.
 */
export function isPathPrefix(text: string): boolean {
  return text.split('/').every((segment) => /^[\w.~-]+$/.test(segment) && segment !== '.' && segment !== '..');
}

/**
 * Returns whether the text is an origin exactly as browsers send it, such as `https://addin.example`, or `null` for a page
 * without an origin.
 */
export function isOrigin(text: string): boolean {
  return text === 'null' || URL.parse(text)?.origin === text;
}

const isoTime = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses a date and time of ISO 8601 with a time zone. Returns milliseconds since the epoch, or undefined for any other text. */
export function parseTime(text: string): number | undefined {
  const date = isoTime.exec(text)?.[1];
  if (date === undefined || !isCalendarDate(date)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns whether a text is a time zone of the IANA database that this process knows, such as `Europe/Zurich`. */
export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}
