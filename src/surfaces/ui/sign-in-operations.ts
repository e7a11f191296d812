import { SignInWay } from '#contract/page/sign-in-way.ts';
import { type ApiOperation, buildList, json } from '../http/operations/operation.ts';

/** Operations of `/v1/sign-in`. */
export const signInOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/sign-in',
    id: 'listSignInWays',
    tag: 'Signing in',
    isOpen: true,
    summary: 'The identity providers that people sign in with',
    description: 'What a public client needs for the authorization code flow with PKCE. Empty if people come with keys alone.',
    answers: [
      { status: 200, description: 'The providers.', content: json({ name: 'SignInWays', schema: buildList(SignInWay) }) },
    ],
  },
];
