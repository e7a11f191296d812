import { type Static, Type } from 'typebox';

/**
 * Error in a response: `{"error": ErrorBody}` (docs/wire.md, Errors). The fields `type`, `message`, `param`, and `code` are
 * always present.
 */
export const ErrorBody = Type.Object({
  type: Type.String({ description: 'The family of the error.' }),
  message: Type.String({ description: 'One sentence that names the thing and, where there is one, the way out.' }),
  param: Type.Union([Type.String(), Type.Null()], {
    description: 'JSON path of the field at fault, such as messages[2].content.',
  }),
  code: Type.Union([Type.String(), Type.Null()], { description: 'A stable word for programs.' }),
  display_message: Type.Optional(
    Type.String({ description: 'What an application or an upstream would have people shown in place of `message`.' }),
  ),
  deployment: Type.Optional(
    Type.String({ description: 'With `consent_required` and `consent_outdated`: the deployment whose form it is.' }),
  ),
  consent: Type.Optional(
    Type.Unsafe<Readonly<Record<string, { consentRequired: boolean }>>>({
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['consentRequired'],
        properties: { consentRequired: { type: 'boolean' } },
      },
      description: 'With the same: the form of today, if the caller is the user itself.',
    }),
  ),
});
export type ErrorBody = Static<typeof ErrorBody>;
