import type { JsonObject } from '#base/json/json.ts';

/** The media type of a body of which nothing else is said. */
export const jsonType = 'application/json';

export type RestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where in a request a value goes. `path` fills `{key}` of the address. `whole_body` is the body itself; its key has no meaning. */
export type RestPlace = 'path' | 'query' | 'header' | 'body' | 'whole_body';

/** How a list or an object is written into a query or a form (OpenAPI 3.1, `style` of a parameter object). */
export type RestStyle = 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

/** Where in a request a value goes, and how it is written there. */
export interface RestTarget {
  readonly place: RestPlace;
  /** As the server takes it. */
  readonly key: string;
  /** Of a value in a query or a form; absent: lists repeat the key, objects are JSON. */
  readonly style?: RestStyle;
  /** With a style: whether each item has a key of its own; absent: as OpenAPI has it for the style. */
  readonly explode?: boolean;
  /** Whether the value is the content of a file: text, or a `data:` URL for bytes. */
  readonly isFile?: boolean;
}

/** An argument of the model and where it goes. */
export interface RestArgument extends RestTarget {
  /** As the model gives it: a property of the tool's `parameters`. */
  readonly name: string;
}

/** A fixed value; it wins over the model, which does not see it. */
interface RestConstant extends RestTarget {
  readonly value: unknown;
}

/** A web API's operation as a tool. Quick apps and OpenAPI documents are turned into these. */
export interface RestToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema shown to the model; constants are not in it. */
  readonly parameters: JsonObject;
  readonly method: RestMethod;
  /** Absolute http(s) address; `{name}` in path or query stands for an argument or constant of place `path`. */
  readonly url: string;
  readonly arguments: readonly RestArgument[];
  readonly constants: readonly RestConstant[];
  /** Media type of the body, if there is one. */
  readonly contentType: string;
  /** Whether the configured credentials are kept back, since the operation asks for none. */
  readonly isPublic: boolean;
}

/** How a body of some media type is written. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

/** By the media type alone: what is neither JSON, a form nor text is bytes. */
export function getBodyKind(contentType: string): BodyKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^application\/(?:[\w.+-]+\+)?json$|^[\w.-]+\/[\w.-]+\+json$|^\*\/\*$|^application\/\*$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  return /^text\/|[/+](?:xml|yaml|x-yaml|graphql|javascript|x-ndjson|ndjson|jsonl|sql)$/.test(type) ? 'text' : 'bytes';
}
