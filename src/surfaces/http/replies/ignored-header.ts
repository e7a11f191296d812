/** Names what of a request did not reach a model. */
export const ignoredHeader = 'parley-ignored';

const mostNames = 32;
const longestName = 64;

/** The value of that header field. Names come from the request: only what a header field can carry is left of them. */
export function toIgnoredNames(ignored: readonly string[]): string {
  const names = ignored.slice(0, mostNames).map((name) => encodeURIComponent(name.slice(0, longestName).toWellFormed()));
  const more = ignored.length - names.length;
  return [...names, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}
