/** Suffix of the application type ID. */
export const quickAppSuffix = '/custom_application_schemas/quickapps';

/** Returns whether an application type ID is that of quick apps. The base before the suffix can be any URL. */
export function isQuickAppSchemaId(schemaId: string): boolean {
  return schemaId.endsWith(quickAppSuffix);
}
