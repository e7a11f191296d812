import type { JsonObject } from '#base/json/json.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { toWrittenSchema } from '#contract/configuration/written-schema.ts';
import { QuickAppForm } from '#contract/quick-app/form.ts';

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

function toWritten(schema: unknown): unknown {
  return toWrittenSchema(schema, { acceptsReferences: true });
}
