import { type Static, Type } from 'typebox';
import type { JsonObject } from '#base/json/json.ts';
import { strict } from '#contract/configuration/fields.ts';
import { isHttpUrl } from '#contract/configuration/values.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { requireShape } from '#contract/errors/request-error.ts';
import { QuickAppForm } from '#contract/quick-app/form.ts';
import { McpToolset, RestToolset } from '#contract/quick-app/toolsets.ts';
import { compileShape } from '#contract/schemas/compile-shape.ts';
import { withoutNulls } from '#contract/schemas/normalize-request.ts';

const application = Type.Optional(
  Type.String({
    description:
      'ID of an application of the user, `applications/{bucket}/{path}`. Its secrets replace `***` in a toolset of the same name.',
  }),
);

/** A request about an unsaved toolset. `readToolset` validates the toolset itself. */
const AnyToolset = Type.Object({ toolset: Type.Object({}), application }, { additionalProperties: false });
const names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

/** Selection of operations from an OpenAPI document. At least one of `url` and `document` is required. */
export const ImportRequest = Type.Object(
  {
    url: Type.Optional(Type.String({ description: 'URL of the document. With `document`: base URL of its servers.' })),
    document: Type.Optional(
      Type.Union([Type.String(), Type.Object({})], { description: 'The document: JSON or YAML as text, or JSON as an object.' }),
    ),
    include: names('Names of the operations to import. Default: all.'),
    exclude: names('Names of the operations to omit. Default: none.'),
  },
  { additionalProperties: false },
);
export type ImportRequest = Static<typeof ImportRequest>;

const shape = compileShape(ImportRequest);
const optionalImportFields: ReadonlySet<string> = new Set(Object.keys(ImportRequest.properties));

export type ToolsetRequest = Static<typeof AnyToolset>;

/** Body of a request that lists the tools of a server. */
export const ListToolsRequest = Type.Object(
  { toolset: strict(McpToolset.properties, { description: 'An entry of `mcp_toolset`.' }), application },
  { additionalProperties: false },
);

const { document_relative_url, retrieval } = QuickAppForm.properties;
/** Search settings for documents, as in the settings of a quick app. */
const Documents = strict(
  { type: Type.Literal('documents'), document_relative_url, retrieval },
  { description: 'Stored files of the user, with search settings.' },
);

const toolToRun = {
  tool: Type.String({ minLength: 1, description: 'Name of the tool in the toolset.' }),
  arguments: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object', description: 'Arguments of the tool. Default: none.' })),
};

/** Body of a request that runs a tool. */
export const RunToolRequest = Type.Object(
  {
    toolset: Type.Union([McpToolset, RestToolset, Documents], {
      description: 'An entry of `mcp_toolset` or `web_api_toolset`, or documents of the user with the tool `query_document`.',
    }),
    ...toolToRun,
    application,
  },
  { additionalProperties: false },
);
const AnyRun = Type.Object({ ...AnyToolset.properties, ...toolToRun }, { additionalProperties: false });
export type ToolRunRequest = Static<typeof AnyRun>;

const shapes = { list: compileShape(AnyToolset), run: compileShape(AnyRun) };
const optional: ReadonlySet<string> = new Set(['application', 'arguments']);

/** Validates the request, except its toolset, which `readToolset` validates. Throws `invalid_request`. */
export function parseToolsetRequest(body: unknown): ToolsetRequest {
  return requireShape(shapes.list, withoutNulls(body, optional));
}

/** Validates the request with the tool to run, except its toolset. Throws `invalid_request`. */
export function parseToolRunRequest(body: unknown): ToolRunRequest {
  return requireShape(shapes.run, withoutNulls(body, optional));
}

/** Validates the selection of operations. Throws `invalid_request`. */
export function parseImportRequest(body: unknown): ImportRequest {
  const request = requireShape(shape, withoutNulls(body, optionalImportFields));
  const { url, document } = request;
  if (url === undefined && document === undefined)
    throw new ParleyError('invalid_request', 'url or document is required.', { param: 'url' });
  if (url !== undefined && !isHttpUrl(url))
    throw new ParleyError('invalid_request', 'url must be an address that begins with http:// or https://.', { param: 'url' });
  return request;
}
