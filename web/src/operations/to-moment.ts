/** A moment with its day, in the zone of the one who reads it. */
export function toMoment(atMs: number, language: string): string {
  return new Date(atMs).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'medium' });
}
