/** How the id of the application type ends. */
export const quickAppSuffix = '/custom_application_schemas/quickapps';

/** Whether an application type is that of quick apps; the base before the suffix may be any address. */
export function isQuickAppSchemaId(schemaId: string): boolean {
  return schemaId.endsWith(quickAppSuffix);
}
