import { type Static, Type } from 'typebox';

/**
 * Error in a response: `{"error": ErrorBody}` (docs/wire.md, Errors). The fields `type`, `message`, `param`, and `code` are
 * always present.
 */
export const ErrorBody = Type.Object({
  type: Type.String({ description: 'Category of the error.' }),
  message: Type.String({ description: 'Description of the error, with a remedy if there is one.' }),
  param: Type.Union([Type.String(), Type.Null()], {
    description: 'JSON path of the invalid field, such as messages[2].content.',
  }),
  code: Type.Union([Type.String(), Type.Null()], { description: 'Stable code for programs.' }),
  display_message: Type.Optional(
    Type.String({ description: 'Message of an application or upstream for users. Display it instead of `message`.' }),
  ),
  errors: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), message: Type.String(), hint: Type.Optional(Type.String()) }), {
      description: 'All errors of an entry of the configuration, with their paths.',
    }),
  ),
  usedBy: Type.Optional(
    Type.Array(Type.String(), { description: 'For `in_use`: paths of the configuration that need the entry.' }),
  ),
  deployment: Type.Optional(
    Type.String({ description: 'For `consent_required` and `consent_outdated`: the deployment of the form.' }),
  ),
  consent: Type.Optional(
    Type.Unsafe<Readonly<Record<string, { consentRequired: boolean }>>>({
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['consentRequired'],
        properties: { consentRequired: { type: 'boolean' } },
      },
      description: 'For `consent_required` and `consent_outdated`: the current form, if the client is the user.',
    }),
  ),
});
export type ErrorBody = Static<typeof ErrorBody>;
