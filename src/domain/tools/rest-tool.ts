import type { JsonObject } from '#base/json.ts';

export type RestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where in a request a value goes. `path` fills `{key}` of the address. `whole-body` is the body itself; its key has no meaning. */
export type RestPlace = 'path' | 'query' | 'header' | 'body' | 'whole-body';

/** An argument of the model and where it goes. */
export interface RestArgument {
  /** As the model gives it: a property of the tool's `parameters`. */
  readonly name: string;
  readonly place: RestPlace;
  /** As the server takes it. */
  readonly key: string;
  /** Joins an array in a query to one value; absent: the key is repeated. */
  readonly separator?: string;
}

/** A fixed value; it wins over the model, which does not see it. */
interface RestConstant {
  readonly place: RestPlace;
  readonly key: string;
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
  /** How the body is written, if there is one. */
  readonly bodyKind: 'json' | 'form';
  /** Whether the configured credentials are kept back, since the operation asks for none. */
  readonly isPublic: boolean;
}
