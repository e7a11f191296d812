import { ParleyError } from './errors.ts';

/** A date of the calendar as YYYY-MM-DD, optionally with `-preview`. There is no year 0. */
export function isApiVersion(text: string): boolean {
  const date = /^((?!0000)\d{4}-\d{2}-\d{2})(-preview)?$/.exec(text)?.[1];
  if (date === undefined) return false;
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

/** Throws unless the text is a calendar date `YYYY-MM-DD`, optionally followed by `-preview` (docs/wire.md, Paths). */
export function checkApiVersion(version: string): void {
  if (isApiVersion(version)) return;
  throw new ParleyError(
    'invalid_api_version',
    `The API version "${version.slice(0, 50)}" is no date of the form YYYY-MM-DD or YYYY-MM-DD-preview.`,
    {
      param: 'api_version',
    },
  );
}
