import { type Static, Type } from 'typebox';
import { Authorization, McpAuthorization } from '../configuration/authorization.ts';
import { buildRecord, fieldBounds, httpUrl, secretHeaderValue, strict, text, texts } from '../configuration/fields.ts';

/** Large OpenAPI documents have several hundred operations. */
const maxOperations = 1000;

/** Data types of parameters. Their names are those of JSON Schema. */
const dataType = Type.Enum(['string', 'number', 'integer', 'boolean', 'object', 'array'], {
  description: 'Data type of the parameter.',
});

/** Maximum length of a tool or parameter description. OpenAPI documents can contain long descriptions. */
const maxDescriptionChars = 16_384;

/** Returns the schema of an HTTP method, whose letters may be lowercase or uppercase. */
function httpMethod(methods: readonly string[], description: string) {
  const patterns = methods.map((method) => method.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`));
  const errorMessage = `must be one of ${methods.join(', ')}`;
  return Type.String({ maxLength: 6, description, examples: ['get'], pattern: `^(${patterns.join('|')})$`, errorMessage });
}

const ParameterInfo = strict(
  {
    type: Type.Enum(['query', 'path', 'url', 'header', 'body', 'whole_body'], {
      description:
        'Part of the request that carries the value. `url` is an alias of `path`. `whole_body`: the value is the complete body.',
    }),
    key: Type.Optional(text('Parameter name that the server expects. Default: the name of the property.')),
    style: Type.Optional(
      Type.Enum(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'], {
        description: 'Encoding of a list or an object in a query or form. Default: lists repeat the key, objects are JSON.',
      }),
    ),
    explode: Type.Optional(
      Type.Boolean({
        description:
          'Whether each item has its own key if a style is set. Default: true for form, false for the other styles. No effect on deepObject.',
      }),
    ),
  },
  { description: 'Location of the value. Default: the query for get and delete, otherwise the JSON body.' },
);

/**
 * A JSON Schema property, with the location of its value in the request. A property with `const` has a fixed value and is hidden
 * from the model.
 */
const Property = Type.Object(
  { parameter_info: Type.Optional(ParameterInfo) },
  {
    maxProperties: fieldBounds.maxProperties,
    description: 'JSON Schema of the parameter. `const` fixes its value and hides it from the model.',
    additionalProperties: Type.Unknown(),
  },
);

const ToolFunction = strict(
  {
    name: functionName(),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'Description of the tool for the model.' }),
    parameters: Type.Object(
      {
        type: Type.Optional(Type.Literal('object')),
        properties: Type.Optional(
          buildRecord(Property, {
            by: 'name',
            maxProperties: fieldBounds.maxProperties,
            description: 'Parameters by name. Default: none.',
          }),
        ),
        required: Type.Optional(
          Type.Array(Type.String({ maxLength: fieldBounds.maxWordChars }), {
            maxItems: fieldBounds.maxItems,
            description: 'Names of the parameters that the model must provide.',
          }),
        ),
      },
      { maxProperties: fieldBounds.maxProperties, description: 'JSON Schema of the parameters.' },
    ),
    strict: Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description: 'Has no effect.' })),
  },
  { description: 'Tool definition that the model receives.' },
);

const mediaType = '^[A-Za-z0-9.+*-]+/[A-Za-z0-9.+*-]+( ?;[ -~]*)?$';

const RestTool = strict(
  {
    rest_api_method_info: strict(
      {
        method_url: httpUrl('Address of the operation. A parameter replaces `{name}` in it.'),
        method_type: httpMethod(['get', 'post', 'put', 'patch', 'delete'], 'HTTP method: get, post, put, patch or delete.'),
        content_type: Type.Optional(
          Type.String({
            maxLength: 200,
            description:
              'Media type of the body, which selects its encoding: JSON, a form, text, or bytes. Default: application/json.',
            examples: ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'],
            pattern: mediaType,
            errorMessage: 'must be a media type, such as application/x-www-form-urlencoded',
          }),
        ),
      },
      { description: 'Address and method of the operation.' },
    ),
    open_ai_tool: strict(
      { type: Type.Literal('function'), function: ToolFunction },
      { description: 'Tool definition that the model receives.' },
    ),
  },
  { description: 'One operation of a web API.' },
);
export type RestTool = Static<typeof RestTool>;

/** Operations of one web API with shared credentials. */
export const RestToolset = strict(
  {
    type: Type.Literal('rest-api'),
    name: text('Display name of the toolset.'),
    authorization: Type.Optional(
      Type.Union([...Authorization.anyOf, Type.Null()], {
        description: 'Authorization at the server. `type` selects the scheme. Default or null: none.',
      }),
    ),
    tools: Type.Array(RestTool, { maxItems: maxOperations, description: 'Operations that the model can call.' }),
  },
  { description: 'A web API.' },
);
export type RestToolset = Static<typeof RestToolset>;

const ObsoleteParameter = strict(
  {
    name: text('Name of the parameter.'),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'Description of the parameter for the model.' }),
    parameter_type: dataType,
    url_param: Type.Optional(Type.Boolean({ default: false, description: 'true: sent in the query. false: sent in the body.' })),
    constant_value: Type.Optional(
      Type.Unknown({ description: 'A fixed value, hidden from the model. Default or null: the model provides the value.' }),
    ),
    item_parameter_type: Type.Optional(
      Type.Union([dataType, Type.Null()], { description: 'Data type of the items of an array.' }),
    ),
    item_descriptor: Type.Optional(
      Type.Union([Type.String({ maxLength: maxDescriptionChars }), Type.Null()], {
        description: 'Description of the array items for the model.',
      }),
    ),
  },
  { description: 'A parameter of the operation.' },
);

const ObsoleteEndpoint = strict(
  {
    name: functionName(),
    method_url: httpUrl('Address of the operation. A parameter replaces `{name}` in it.'),
    method_type: httpMethod(['get', 'post', 'put', 'delete'], 'HTTP method: get, post, put or delete.'),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'Description of the tool for the model.' }),
    parameters: Type.Array(ObsoleteParameter, {
      maxItems: fieldBounds.maxItems,
      description: 'Parameters of the operation. Can be empty.',
    }),
  },
  { description: 'One operation of a web API.' },
);
export type ObsoleteEndpoint = Static<typeof ObsoleteEndpoint>;

const ObsoleteKey = strict(
  {
    auth_type: Type.Literal('apikey'),
    api_key: secretHeaderValue('The key.'),
    url_param: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'true: sent in the query parameter api_key. false: sent in the header field api_key.',
      }),
    ),
  },
  { description: 'A key sent with each request.' },
);

/** The obsolete form of a web API. */
export const ObsoleteWebToolset = strict(
  {
    tool_endpoints: Type.Array(ObsoleteEndpoint, { maxItems: maxOperations, description: 'Operations that the model can call.' }),
    auth_info: Type.Union([ObsoleteKey, Type.Null()], { description: 'The key of each request. null: none.' }),
  },
  { description: 'A web API in the obsolete form.' },
);
export type ObsoleteWebToolset = Static<typeof ObsoleteWebToolset>;

function functionName() {
  return Type.String({
    title: 'Name',
    description: 'Name of the tool for the model.',
    pattern: '^[a-zA-Z0-9_-]{1,64}$',
    errorMessage: 'must be 1 to 64 letters, digits, _ or -',
  });
}

const Parameter = strict(
  {
    name: text('Name of the parameter.'),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'Description of the parameter for the model.' }),
    parameter_type: dataType,
  },
  { description: 'A parameter of the tool. The model must provide it.' },
);

/** A tool that the client runs. */
export const ClientTool = strict(
  {
    name: functionName(),
    description: Type.String({ maxLength: maxDescriptionChars, description: 'Description of the tool for the model.' }),
    parameters: Type.Array(Parameter, { maxItems: fieldBounds.maxItems, description: 'Parameters of the tool. Can be empty.' }),
  },
  { description: 'A tool that the client runs.' },
);
export type ClientTool = Static<typeof ClientTool>;

const Server = strict(
  {
    url: httpUrl('Address of the server.'),
    protocol: Type.Enum(['streamable_http', 'sse'], { description: 'Transport of the server.' }),
    authorization: Type.Optional(
      Type.Union([...McpAuthorization.anyOf, Type.Null()], {
        description: 'Authorization at the server. `type` selects the scheme. Default or null: none.',
      }),
    ),
  },
  { description: 'Address and transport of the server.' },
);

/** An MCP server and its allowed tools. */
export const McpToolset = strict(
  {
    type: Type.Literal('mcp'),
    name: text('Display name of the toolset.'),
    mcp_server_info: Server,
    allowed_tools: Type.Optional(
      texts({ description: 'Names of the tools that the model can call. Default: all tools of the server.' }),
    ),
    resources: Type.Optional(
      Type.Boolean({
        title: 'Resources',
        description: 'true: the model can list and read the resources of the server with two tools.',
      }),
    ),
    prompts: Type.Optional(
      Type.Boolean({
        title: 'Prompts as starters',
        description: 'true: prompts of the server without required values are offered as starters.',
      }),
    ),
  },
  { description: 'An MCP server.' },
);
export type McpToolset = Static<typeof McpToolset>;
