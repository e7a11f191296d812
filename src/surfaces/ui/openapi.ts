import { SignInOption } from '#contract/page/sign-in-option.ts';
import { buildArray, listOperations, nameObject, reply } from '../http/openapi/operation.ts';

const firstStart = {
  type: 'boolean',
  description: 'Present and true while no administrator exists and the one-time token in the log of the node is valid.',
};

const shared = { tag: 'Signing in' } as const;

/** Operations of `/v1/sign-in`. */
export const signInOperations = listOperations(shared, {
  'get /v1/sign-in': {
    id: 'listSignInWays',
    isOpen: true,
    summary: 'List the identity providers for sign-in',
    description:
      'Parameters that a public client needs for the authorization code flow with PKCE. Empty if only keys are configured.',
    responses: [
      reply(
        200,
        'The providers.',
        nameObject('SignInWays', { object: { const: 'list' }, data: buildArray(SignInOption), firstStart }, ['firstStart']),
      ),
    ],
  },
});
