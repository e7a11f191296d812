import type { IncomingHttpHeaders } from 'node:http';
import { createPreconditionError, type WriteCondition } from '#domain/files/write-condition.ts';

/** Stored content. The ETag has no quotes. */
interface TaggedContent {
  readonly etag: string;
}

/** Returns whether the request has a precondition. */
export function hasCondition(headers: IncomingHttpHeaders): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined;
}

/**
 * Returns the condition that must still hold at the time of the write (RFC 9110, 13.2.2). Throws `precondition_failed` if the
 * current content does not match.
 */
export function toWriteCondition(headers: IncomingHttpHeaders, current: TaggedContent | undefined): WriteCondition {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  requireMatch(match, current);
  if (noneMatch !== undefined && matchesTag(noneMatch, current, 'weak')) throw createPreconditionError();
  if (match === undefined && noneMatch === undefined) return undefined;
  if (current === undefined) return 'absent';
  return match?.trim() === '*' && noneMatch === undefined ? 'present' : { etag: current.etag };
}

/**
 * Returns whether the client already has this content, so that the response is 304. Throws `precondition_failed` if `If-Match`
 * does not match.
 */
export function isNotModified(headers: IncomingHttpHeaders, current: TaggedContent): boolean {
  requireMatch(headers['if-match'], current);
  const { 'if-none-match': noneMatch } = headers;
  return noneMatch !== undefined && matchesTag(noneMatch, current, 'weak');
}

/** Returns whether a `Range` header applies to this content (RFC 9110, 13.1.5). A date in `If-Range` never matches. */
export function isRangeCurrent(headers: IncomingHttpHeaders, current: TaggedContent): boolean {
  const { 'if-range': ifRange } = headers;
  return (
    ifRange === undefined || (typeof ifRange === 'string' && matchesTag(ifRange, current, 'strong') && ifRange.trim() !== '*')
  );
}

function requireMatch(match: string | undefined, current: TaggedContent | undefined): void {
  if (match !== undefined && !matchesTag(match, current, 'strong')) throw createPreconditionError();
}

/**
 * Returns whether a list of tags, or `*`, matches the current content. Accepts tags without quotes, because metadata contains
 * them in that form.
 */
function matchesTag(list: string, current: TaggedContent | undefined, comparison: 'strong' | 'weak'): boolean {
  if (current === undefined) return false;
  if (list.trim() === '*') return true;
  // Pattern bound: a header of at most 16 kB, in which each quotation mark ends the search that the previous one started.
  for (const [, weak, quoted, bare] of list.matchAll(/(W\/)?"([^"]*)"|([^\s",]+)/g)) {
    if ((quoted ?? bare) === current.etag && (weak === undefined || comparison === 'weak')) return true;
  }
  return false;
}
