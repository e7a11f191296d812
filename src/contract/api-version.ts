import { ParleyError } from './errors.ts';

/** Throws unless the text is a calendar date `YYYY-MM-DD`, optionally followed by `-preview` (spec 9, contract 3). */
export function checkApiVersion(version: string): void {
  const match = /^(\d{4})-(\d{2})-(\d{2})(-preview)?$/.exec(version);
  if (match !== null) {
    const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
    const date = new Date(Date.UTC(year, month - 1, day));
    date.setUTCFullYear(year);
    if (date.getUTCMonth() === month - 1 && date.getUTCDate() === day) return;
  }
  throw new ParleyError(
    'invalid_api_version',
    `The API version "${version.slice(0, 50)}" is no date of the form YYYY-MM-DD or YYYY-MM-DD-preview.`,
    {
      param: 'api_version',
    },
  );
}
