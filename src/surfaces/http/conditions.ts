import type { IncomingHttpHeaders } from 'node:http';
import { preconditionFailed, type WriteCondition } from '#domain/files/write-condition.ts';

/** What is stored; its ETag without quotes. */
interface Tagged {
  readonly etag: string;
}
type Current = Tagged | undefined;

/** Whether a request says what must hold of what is stored; other writes happen always. */
export function hasCondition(headers: IncomingHttpHeaders): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined;
}

/** What must still hold when a write happens (RFC 9110, 13.2.2). Throws `precondition_failed` if it does not hold now. */
export function toWriteCondition(headers: IncomingHttpHeaders, current: Current): WriteCondition {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  requireMatch(match, current);
  if (noneMatch !== undefined && isNamed(noneMatch, current, 'weak')) throw preconditionFailed();
  if (match === undefined && noneMatch === undefined) return undefined;
  if (current === undefined) return 'absent';
  return match?.trim() === '*' && noneMatch === undefined ? 'present' : { etag: current.etag };
}

/** Whether a reader has this content already: 304. Throws `precondition_failed` if If-Match does not hold. */
export function isKnown(headers: IncomingHttpHeaders, current: Tagged): boolean {
  requireMatch(headers['if-match'], current);
  const { 'if-none-match': noneMatch } = headers;
  return noneMatch !== undefined && isNamed(noneMatch, current, 'weak');
}

/** Whether a range means this content (RFC 9110, 13.1.5); dates are never taken for a content. */
export function isOfRange(headers: IncomingHttpHeaders, current: Tagged): boolean {
  const { 'if-range': ifRange } = headers;
  return ifRange === undefined || (typeof ifRange === 'string' && isNamed(ifRange, current, 'strong') && ifRange.trim() !== '*');
}

function requireMatch(match: string | undefined, current: Current): void {
  if (match !== undefined && !isNamed(match, current, 'strong')) throw preconditionFailed();
}

/** Whether a list of tags, or `*`, names what is there. Tags without quotes are taken too: metadata show them so. */
function isNamed(list: string, current: Current, comparison: 'strong' | 'weak'): boolean {
  if (current === undefined) return false;
  if (list.trim() === '*') return true;
  // Pattern bound: a header of at most 16 kB, where a quotation mark ends the search of the one before.
  for (const [, weak, quoted, bare] of list.matchAll(/(W\/)?"([^"]*)"|([^\s",]+)/g)) {
    if ((quoted ?? bare) === current.etag && (weak === undefined || comparison === 'weak')) return true;
  }
  return false;
}
