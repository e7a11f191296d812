import { Type } from 'typebox';

/** Maximum length of a tool or parameter description. OpenAPI documents can contain long descriptions. */
export const maxDescriptionChars = 16_384;

/** Name of a tool for the model. */
export function functionName() {
  return Type.String({
    title: 'Name',
    description: 'Name of the tool for the model.',
    pattern: '^[a-zA-Z0-9_-]{1,64}$',
    errorMessage: 'must be 1 to 64 letters, digits, _ or -',
  });
}
