import type { JsonObject } from '#base/json/json.ts';

/** Default media type of a body. */
export const jsonType = 'application/json';

export type RestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Location of a value in a request. `path` fills `{key}` of the URL. `whole_body` is the complete body and ignores the key. */
export type RestLocation = 'path' | 'query' | 'header' | 'body' | 'whole_body';

/** Serialization of a list or an object in a query or a form (OpenAPI 3.1, `style` of a parameter object). */
export type RestStyle = 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

/** Location and serialization of a value in a request. */
export interface RestTarget {
  readonly location: RestLocation;
  /** Key as the server expects it. */
  readonly key: string;
  /** Serialization of a value in a query or a form. If undefined, lists repeat the key, and objects are JSON. */
  readonly style?: RestStyle;
  /** Whether each item has a separate key. Requires a style. If undefined, the default of OpenAPI for the style applies. */
  readonly explode?: boolean;
  /** Whether the value is the content of a file: text, or a `data:` URL for bytes. */
  readonly isFile?: boolean;
}

/** An argument from the model, and its target. */
export interface RestArgument extends RestTarget {
  /** Name of the property in the tool's `parameters`. */
  readonly name: string;
}

/** A fixed value. It takes precedence over the model, which does not see it. */
interface RestConstant extends RestTarget {
  readonly value: unknown;
}

/** An operation of a web API as a tool. Parley converts quick apps and OpenAPI documents to this form. */
export interface RestToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema for the model, without constants. */
  readonly parameters: JsonObject;
  readonly method: RestMethod;
  /** Absolute HTTP(S) URL. `{name}` in the path or query is a placeholder for an argument or constant with the location `path`. */
  readonly url: string;
  readonly arguments: readonly RestArgument[];
  readonly constants: readonly RestConstant[];
  /** Media type of the body, if there is one. */
  readonly contentType: string;
  /** Whether the operation requires no credentials, so that Parley does not send the configured ones. */
  readonly isPublic: boolean;
}

/** Encoding of a body. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

/** Returns the encoding for a media type. Types other than JSON, forms, and text are bytes. */
export function getBodyKind(contentType: string): BodyKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^application\/(?:[\w.+-]+\+)?json$|^[\w.-]+\/[\w.-]+\+json$|^\*\/\*$|^application\/\*$/.test(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  return /^text\/|[/+](?:xml|yaml|x-yaml|graphql|javascript|x-ndjson|ndjson|jsonl|sql)$/.test(type) ? 'text' : 'bytes';
}
