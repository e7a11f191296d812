/** How a body of some media type is written. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

/** The media type of a body of which nothing else is said. */
export const jsonType = 'application/json';

/** By the media type alone: what is neither JSON, a form nor text is bytes. */
export function bodyKindOf(contentType: string): BodyKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^application\/(?:[\w.+-]+\+)?json$|^[\w.-]+\/[\w.-]+\+json$|^\*\/\*$|^application\/\*$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  return /^text\/|[/+](?:xml|yaml|x-yaml|graphql|javascript|x-ndjson|ndjson|jsonl|sql)$/.test(type) ? 'text' : 'bytes';
}
