import { type Static, Type } from 'typebox';

/** Endpoints of an identity provider for signing in and out. */
const SignInEndpoints = Type.Object({
  authorization: Type.String({ description: 'Where the browser goes to sign in.' }),
  token: Type.String({ description: 'Where a code, or a refresh token, is exchanged for tokens.' }),
  endSession: Type.Optional(Type.String({ description: 'Where the browser goes to sign out of the provider itself.' })),
  revocation: Type.Optional(
    Type.String({ description: 'Where the page tells that a refresh token is used no more (RFC 7009).' }),
  ),
});
export type SignInEndpoints = Static<typeof SignInEndpoints>;

/** A sign-in option of the page: an identity provider with the settings for a public client. It contains no secrets. */
export const SignInWay = Type.Object({
  name: Type.String({ description: 'Of the provider in the configuration.' }),
  displayName: Type.String(),
  issuer: Type.String(),
  clientId: Type.String(),
  scopes: Type.Array(Type.String()),
  token: Type.Enum(['access_token', 'id_token'], { description: 'Which of the tokens is sent with requests.' }),
  parameters: Type.Record(Type.String(), Type.String(), { description: 'More parameters of the authorization request.' }),
  sendsIssuer: Type.Boolean({ description: 'Whether the provider names itself when it sends the browser back (RFC 9207).' }),
  endpoints: Type.Union([SignInEndpoints, Type.Null()], { description: 'null while the provider cannot be asked for them.' }),
});
export type SignInWay = Static<typeof SignInWay>;

/** Returns the available sign-in options. */
export type ListSignInWays = () => Promise<readonly SignInWay[]>;
