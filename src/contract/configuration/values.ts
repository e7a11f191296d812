import ipaddr from 'ipaddr.js';
import { isCalendarDate } from '../api-version.ts';

/** Whether an address names nobody; true of what is no address. */
export function isWithoutUser(text: string): boolean {
  const { username, password } = URL.parse(text) ?? { username: '', password: '' };
  return username === '' && password === '';
}

/** An absolute http: or https: address. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** An IP address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = ipaddr.IPv4.isValidFourPartDecimal(address) ? 32 : ipaddr.IPv6.isValid(address) ? 128 : 0;
  if (bits === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/** A host name without scheme, port or path. */
export function isHostName(text: string): boolean {
  const looksLikeAddress = /^[\d.]+$/.test(text);
  return !looksLikeAddress && text.length <= 253 && /^(?!-)[\w-]{1,63}(?<!-)(\.(?!-)[\w-]{1,63}(?<!-))*$/.test(text);
}

/** Text that may be the value of a header field. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Text that may be the name of a header field (RFC 9110, token). */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(text);
}

/** Segments of a path, each of letters, digits and `.`, `_`, `~`, `-`, none of them `.` or `..`, without a slash at either end. */
export function isPathPrefix(text: string): boolean {
  return text.split('/').every((segment) => /^[\w.~-]+$/.test(segment) && segment !== '.' && segment !== '..');
}

/** Whether the text is an origin exactly as a browser sends it: `https://addin.example`, or `null` for a page without one. */
export function isOrigin(text: string): boolean {
  return text === 'null' || (URL.canParse(text) && new URL(text).origin === text);
}

const isoTime = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses a date and time of ISO 8601 with a time zone. Returns milliseconds since the epoch, or undefined for any other text. */
export function parseTime(text: string): number | undefined {
  const date = isoTime.exec(text)?.[1];
  if (date === undefined || !isCalendarDate(date)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
