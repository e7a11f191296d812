import { ParleyError } from './errors/errors.ts';

/** API version of a request. It is a date in the path, and any word in the query. */
export interface RequestedVersion {
  readonly text: string;
  readonly from: 'path' | 'query';
}

/** Returns whether a text is a calendar date YYYY-MM-DD, optionally with `-preview`. The year 0 is not valid. */
export function isApiVersion(text: string): boolean {
  const date = /^((?!0000)\d{4}-\d{2}-\d{2})(-preview)?$/.exec(text)?.[1];
  return date !== undefined && isCalendarDate(date);
}

/** Returns whether a text of the form YYYY-MM-DD is a calendar date. */
export function isCalendarDate(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

/** Throws `invalid_api_version` if the version is not valid in its part of the URL (docs/wire.md, Paths). */
export function checkApiVersion({ text, from }: RequestedVersion): void {
  const isAccepted = from === 'path' ? isApiVersion(text) : /^[\w.-]+$/.test(text);
  if (isAccepted) return;
  const form =
    from === 'path'
      ? 'is not a date of the form YYYY-MM-DD or YYYY-MM-DD-preview'
      : 'must consist of letters, digits, ".", "-", and "_"';
  throw createVersionError(`The API version "${text.slice(0, 50)}" ${form}.`);
}

/** Returns the error for a path that requires an API version and has none. */
export function createMissingVersionError(): ParleyError {
  return createVersionError('The API version is missing. Add it as the last segment of the path, in the form YYYY-MM-DD.');
}

function createVersionError(message: string): ParleyError {
  return new ParleyError('invalid_api_version', message, { param: 'api_version' });
}
