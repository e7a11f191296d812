import { SignInOption } from '#contract/page/sign-in-option.ts';
import { type ApiOperation, buildArray, buildObject, json } from '../http/openapi/operation.ts';

const firstStart = {
  type: 'boolean',
  description: 'Present and true while no administrator exists and the one-time token in the log of the node is valid.',
};

/** Operations of `/v1/sign-in`. */
export const signInOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/sign-in',
    id: 'listSignInWays',
    tag: 'Signing in',
    isOpen: true,
    summary: 'List the identity providers for sign-in',
    description:
      'Parameters that a public client needs for the authorization code flow with PKCE. Empty if only keys are configured.',
    responses: [
      {
        status: 200,
        description: 'The providers.',
        content: json({
          name: 'SignInWays',
          schema: buildObject({ object: { const: 'list' }, data: buildArray(SignInOption), firstStart }, ['firstStart']),
        }),
      },
    ],
  },
];
