import { hasDefault, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { QuickAppForm } from '#contract/quick-app/form.ts';

const reference = { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$' };

/**
 * Returns the JSON Schema of a configuration file, for editors. Fields with a default are optional. `${NAME}` is valid for any
 * scalar.
 */
export function configurationJsonSchema(): JsonObject {
  const schema = toWritten(Configuration) as ConfigurationSchema;
  Object.assign(schema.properties.applications.additionalProperties, quickAppRule);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:parley:configuration',
    title: 'Parley configuration',
    ...schema,
  };
}

interface ConfigurationSchema extends JsonObject {
  readonly properties: { readonly applications: { readonly additionalProperties: JsonObject } };
}

/** The properties of a quick app follow their own schema. An application with an endpoint has other properties. */
const quickAppRule = {
  if: {
    required: ['applicationTypeSchemaId'],
    properties: { applicationTypeSchemaId: { pattern: '/custom_application_schemas/quickapps$' }, endpoint: false },
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { applicationProperties: toWritten(QuickAppForm) } },
};

/** Returns the schema of a configuration file: keys with a default are optional. */
function toWritten(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toWritten);
  if (!isJsonObject(schema)) return schema;
  // A reference can replace a text or a part of it, so patterns apply only after substitution.
  const { required, properties, pattern: _pattern, errorMessage: _errorMessage, isPublic: _isPublic, ...rest } = schema;
  const result: JsonObject = {};
  for (const key of ['items', 'additionalProperties', 'anyOf']) if (key in rest) result[key] = toWritten(rest[key]);
  if (isJsonObject(properties)) {
    const needed = Array.isArray(required) ? required.filter((key) => !hasDefault(properties[key])) : [];
    result.properties = Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, toWritten(property)]));
    if (needed.length > 0) result.required = needed;
  }
  return isReplaceable(schema) ? orReference(rest) : { ...rest, ...result };
}

/** Returns whether a value that is not free text can be replaced by a reference. */
function isReplaceable({ type, enum: values }: JsonObject): boolean {
  return values !== undefined || type === 'number' || type === 'integer' || type === 'boolean';
}

function orReference({ description, default: byDefault, ...form }: JsonObject): JsonObject {
  return {
    anyOf: [form, reference],
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
}
