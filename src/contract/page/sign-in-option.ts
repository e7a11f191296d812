import { type Static, Type } from 'typebox';

/** Endpoints of an identity provider for signing in and out. */
const SignInEndpoints = Type.Object({
  authorization: Type.String({ description: 'URL of the authorization endpoint of the provider.' }),
  token: Type.String({ description: 'URL that exchanges a code or a refresh token for tokens.' }),
  endSession: Type.Optional(Type.String({ description: 'URL of the end-session endpoint of the provider.' })),
  revocation: Type.Optional(Type.String({ description: 'URL that revokes a refresh token (RFC 7009).' })),
});
export type SignInEndpoints = Static<typeof SignInEndpoints>;

/** A sign-in option of the page: an identity provider with the settings for a public client. It contains no secrets. */
export const SignInOption = Type.Object({
  name: Type.String({ description: 'Name of the provider in the configuration.' }),
  displayName: Type.String(),
  issuer: Type.String(),
  clientId: Type.String(),
  scopes: Type.Array(Type.String()),
  token: Type.Enum(['access_token', 'id_token'], { description: 'Token that the page sends with requests.' }),
  parameters: Type.Record(Type.String(), Type.String(), { description: 'Additional parameters of the authorization request.' }),
  sendsIssuer: Type.Boolean({ description: 'Whether the provider adds its issuer to the redirect back to the page (RFC 9207).' }),
  endpoints: Type.Union([SignInEndpoints, Type.Null()], { description: 'null while the provider is unavailable.' }),
});
export type SignInOption = Static<typeof SignInOption>;

/** Returns the available sign-in options. */
export type ListSignInOptions = () => Promise<readonly SignInOption[]>;
