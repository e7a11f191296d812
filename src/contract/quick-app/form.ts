import { type Static, Type } from 'typebox';
import { hasDefault, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { capitalize } from '#base/text/sentence.ts';
import { fieldBounds, strict, text, texts } from '../configuration/fields.ts';
import { ApplicationRetrieval, contextStrategies } from '../configuration/service.ts';
import { DeploymentConditions } from './conditions.ts';
import { ClientTool, McpToolset, ObsoleteWebToolset, RestToolset } from './toolsets.ts';

/** Suffix of the application type ID. */
export const quickAppSuffix = '/custom_application_schemas/quickapps';

/** Returns whether an application type ID is that of quick apps. The base before the suffix can be any URL. */
export function isQuickAppSchemaId(schemaId: string): boolean {
  return schemaId.endsWith(quickAppSuffix);
}

const webToolsets = (title: string, description: string) =>
  Type.Optional(
    Type.Array(Type.Union([RestToolset, ObsoleteWebToolset]), { title, maxItems: fieldBounds.maxItems, description }),
  );

/** Maximum length that allows long instructions. The body that saves an application has at most 512 KiB. */
const maxInstructionChars = 262_144;

const fileReference = Type.String({
  title: 'File',
  maxLength: fieldBounds.maxLineChars,
  pattern: '^files/[^/]+/.*[^/]$',
  errorMessage: 'must be the reference of a stored file, such as files/<bucket>/<path>',
});

/** Settings of a quick app, `applicationProperties` (docs/quick-app-reference.md). Forms display the fields in this order. */
export const QuickAppForm = strict(
  {
    instructions: Type.String({
      title: 'Instructions',
      maxLength: maxInstructionChars,
      description: 'The task and how to do it: the system message of every conversation.',
    }),
    model: text('ID of the model, or of another deployment, that answers.'),
    temperature: Type.Number({
      title: 'Temperature',
      minimum: 0,
      maximum: 1,
      description: 'Variety of the answers, from 0 (always similar) to 1.',
    }),
    starters: Type.Optional(
      texts({
        maxLength: fieldBounds.maxTextChars,
        description: 'Suggested first messages, shown as buttons. Default: none.',
        isPublic: true,
      }),
    ),
    context: Type.Optional(
      strict(
        {
          strategy: Type.Optional(
            Type.Enum([...contextStrategies], {
              title: 'Strategy',
              description:
                'summarize: clears the oldest tool results, then the model summarizes the oldest messages. clear: clears tool results only. off: makes no changes. Default: the setting of the service.',
            }),
          ),
          reserveTokens: Type.Optional(
            Type.Integer({
              title: 'Tokens kept free',
              minimum: 0,
              description: 'Tokens of the context window that stay free. Default: the setting of the service.',
            }),
          ),
        },
        { title: 'Long conversations', description: 'Shortening of conversations that exceed the context window of the model.' },
      ),
    ),
    applications_as_tools: Type.Optional(
      Type.Array(Type.Union([text('ID of a deployment.'), DeploymentConditions]), {
        title: 'Deployments as tools',
        maxItems: fieldBounds.maxItems,
        description:
          'Other deployments that the model can call: by ID, or all that meet the conditions of an entry. Default: none.',
      }),
    ),
    client_toolset: Type.Optional(
      Type.Array(ClientTool, {
        title: 'Client tools',
        maxItems: fieldBounds.maxItems,
        description: 'Tools that the client runs: the reply ends with their call and continues with their result. Default: none.',
      }),
    ),
    web_api_toolset: webToolsets('Web APIs', 'Web APIs that the model can call. Default: none.'),
    web_api_toolset_alternative: webToolsets('Further web APIs', 'More web APIs in the same forms. Default: none.'),
    mcp_toolset: Type.Optional(
      Type.Array(McpToolset, {
        title: 'MCP servers',
        maxItems: fieldBounds.maxItems,
        description: 'MCP servers whose tools the model can call. Default: none.',
      }),
    ),
    document_relative_url: Type.Optional(
      Type.Union([fileReference, Type.Array(fileReference, { maxItems: fieldBounds.maxItems })], {
        title: 'Documents',
        description:
          'Stored files that the model searches: a reference or a list. Parley reads them when you save. Without another embedding model, the search by meaning knows English only. Default: none.',
      }),
    ),
    retrieval: Type.Optional(ApplicationRetrieval),
  },
  { description: 'A quick app: a model with instructions, starters, and tools.' },
);
export type QuickAppForm = Static<typeof QuickAppForm>;

/** Names of the settings that the form marks as public. */
const publicNames: ReadonlySet<string> = new Set(
  Object.entries(QuickAppForm.properties).flatMap(([name, schema]) =>
    'isPublic' in schema && schema.isPublic === true ? [name] : [],
  ),
);

/** Returns the settings that every caller with access to the quick app may read. */
export function toPublicProperties(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => publicNames.has(name)));
}

/**
 * Returns the JSON Schema of a quick app's settings. It contains titles, descriptions, and positions, and marks secret fields, so
 * that clients can display a form.
 */
export function buildQuickAppJsonSchema(base: string): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${base}${quickAppSuffix}`,
    title: 'Quick app',
    ...(withTitles(QuickAppForm) as JsonObject),
  };
}

/** Returns the schema with a title and a position for every property. Properties with a default are optional. */
function withTitles(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withTitles);
  if (!isJsonObject(schema)) return schema;
  const copy: JsonObject = { ...schema };
  for (const key of ['items', 'additionalProperties', 'anyOf']) if (key in schema) copy[key] = withTitles(schema[key]);
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return copy;
  copy.properties = Object.fromEntries(
    Object.entries(properties).map(([key, property], index) => {
      const titled = withTitles(property) as JsonObject;
      return [key, { ...titled, title: titled.title ?? toTitle(key), 'x-order': index }];
    }),
  );
  if (Array.isArray(required)) copy.required = required.filter((key) => !hasDefault(properties[key]));
  return copy;
}

/** Returns a property name as a title: `client_secret` becomes "Client secret". */
function toTitle(key: string): string {
  return capitalize(key.replaceAll('_', ' '));
}
