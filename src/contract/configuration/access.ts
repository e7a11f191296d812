import { type Static, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { buildRecord, fieldBounds, network, secretLine, strict, text, texts, time } from './fields.ts';
import { CostLimit, DeploymentLimit, limitSettings } from './limits.ts';
import { isHttpUrl, isWithoutUser, parseTime } from './values.ts';

const digest = (description: string) =>
  Type.String({
    pattern: '^[0-9a-fA-F]{64}$',
    errorMessage: 'must be a SHA-256 digest: 64 hexadecimal digits',
    description,
  });

/** The secret that a key had before its rotation. */
const PreviousSecret = strict(
  { sha256: digest('SHA-256 digest of the previous secret.'), until: time('Time until which the previous secret is accepted.') },
  { description: 'The secret before a rotation, which is accepted for a while. Default: none.' },
);

/** A client key. The entry name in `keys` is the secret key itself, unless `key` or `sha256` is set. */
export const KeyEntry = strict(
  {
    name: Type.Optional(text('Display name. Default: none.', fieldBounds.maxNameChars)),
    project: text('Project of the key. Its user is `key:<project>`.'),
    role: Type.Optional(
      text('The role of the key, if there is only one. Not allowed together with `roles`. Default: `roles`, or `default`.'),
    ),
    roles: Type.Optional(
      texts({ description: 'Roles of the key. Not allowed together with `role`. Default: `role`, or `default`.' }),
    ),
    key: Type.Optional(secretLine('The secret key. Read it from the environment. Default: `sha256`, or the name of the entry.')),
    sha256: Type.Optional(
      digest(
        'SHA-256 digest of the secret key in hexadecimal, so that the configuration does not contain the key. Not allowed together with `key`. Use it for long random keys only, because a short key can be found from its digest.',
      ),
    ),
    previous: Type.Optional(PreviousSecret),
    disabled: Type.Optional(
      Type.Boolean({
        description:
          'Whether the key is blocked. Parley rejects a blocked key and ends its calls, but the entry stays. Default: `false`.',
      }),
    ),
    expiresAt: Type.Optional(
      time(
        'Date and time when the key expires, in ISO 8601 with a time zone, such as `2027-01-31T18:00:00Z`. Parley then rejects the key and ends its calls. Default: no expiry.',
      ),
    ),
    allowedIps: Type.Optional(
      Type.Array(network(), {
        maxItems: fieldBounds.maxItems,
        description: 'Addresses and networks (CIDR) that can use the key. Default: any. Empty: none.',
      }),
    ),
    deployments: Type.Optional(
      texts({
        description:
          'IDs of the deployments that the key can call. The key is then a [bound key](wire.md#bound-keys). Default: all that its roles allow. Empty: none.',
      }),
    ),
    ...limitSettings,
  },
  { description: 'A key, its project, its roles, and its limits.' },
);
export type KeyEntry = Static<typeof KeyEntry>;

/** Returns whether the name of a `keys` entry is the secret. */
export function hasSecretName({ key, sha256 }: { readonly key?: unknown; readonly sha256?: unknown }): boolean {
  return key === undefined && sha256 === undefined;
}

/**
 * Returns the name of a `keys` entry. If the name is a secret, returns the position of the entry, such as `***#2` for the second.
 */
export function toVisibleKeyName(keys: JsonObject, name: string): string {
  const entry = Object.hasOwn(keys, name) ? keys[name] : undefined;
  return isJsonObject(entry) && !hasSecretName(entry) ? name : `***#${Object.keys(keys).indexOf(name) + 1}`;
}

/** Returns whether a key can be used: it is not blocked and has not expired. */
export function isActiveKey({ disabled, expiresAt }: Pick<KeyEntry, 'disabled' | 'expiresAt'>, nowMs: number): boolean {
  return disabled !== true && (expiresAt === undefined || (parseTime(expiresAt) ?? 0) > nowMs);
}

/** Settings for keys that users create for themselves. */
const SelfService = strict(
  {
    keys: Type.Integer({ minimum: 1, maximum: 100, description: 'Maximum number of valid keys that a user can have.' }),
    maxDays: Type.Integer({ minimum: 1, maximum: 3650, description: 'Maximum lifetime of a key that a user creates, in days.' }),
  },
  {
    description:
      'Allows users of the role who sign in with an identity provider to create keys (`/v1/user/keys`). The most generous of a user’s roles applies. Default: not allowed. Keys of users without this right are rejected.',
  },
);
export type SelfService = Static<typeof SelfService>;

/** Permissions and limits of callers with a role. */
export const RoleEntry = strict(
  {
    limits: buildRecord(DeploymentLimit, {
      by: 'deployment ID or *',
      default: {},
      description:
        'Limits by deployment ID. `*` applies to every other deployment. Default: the limits of the role `default`, or unlimited.',
    }),
    costLimit: Type.Optional(CostLimit),
    priority: Type.Optional(
      Type.Enum(['interactive', 'batch'], {
        description:
          'Order in the `queue` of a model: `batch` calls wait until no `interactive` call waits. A caller is `batch` if all of its roles are. Default: the priority of the role `default`, or `interactive`.',
      }),
    ),
    selfService: Type.Optional(SelfService),
  },
  {
    description:
      'Permissions and limits of callers with the role. The role `default` applies to callers whose roles are not configured.',
  },
);
export type RoleEntry = Static<typeof RoleEntry>;

/**
 * Returns whether a URL is https:, or http: on this machine, and has no user name or password. Responses over http: from other
 * machines could be forged.
 */
export function isSecureUrl(text: string): boolean {
  if (!isHttpUrl(text)) return false;
  const { protocol, hostname } = new URL(text);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return (protocol === 'https:' || isLoopback) && isWithoutUser(text);
}

const secureUrl = (description: string) =>
  Type.Refine(
    text(description),
    isSecureUrl,
    () => 'must be an https:// address without user name and password, or an http:// address of this machine',
  );

const claim = (options: { readonly description: string; readonly default?: string }) =>
  Type.Refine(
    Type.String({ minLength: 1, ...options }),
    (path) => path.split('.').every((part) => part !== '' && part === part.trim()),
    () => 'must be a claim or a dotted path of claims, without empty claims or spaces around them',
  );

const endpoint = (what: string) =>
  Type.Optional(secureUrl(`${what} Default: from \`<issuer>/.well-known/openid-configuration\`.`));

/** Settings for signing in to the page with the provider: authorization code with PKCE, as a public client. */
const SignInEntry = strict(
  {
    clientId: text('Client ID of the page as a public client of the provider, without a secret.'),
    displayName: Type.Optional(text('Name of the provider on the sign-in button. Default: the name of the entry.')),
    scopes: texts({ default: ['openid'], description: 'Requested scopes, such as `openid` and `offline_access`.' }),
    token: Type.Enum(['access_token', 'id_token'], {
      default: 'access_token',
      description:
        'Token that the page sends. It must be a signed JWT with the `audience` of the entry, unless the entry has `introspection`. Use `id_token` if the access tokens of the provider are opaque and the entry has no `introspection`.',
    }),
    parameters: buildRecord(Type.String(), {
      by: 'parameter',
      default: {},
      description:
        'Additional parameters of the authorization request, such as `audience`, `prompt`, or `resource`. Token requests also send `resource`.',
    }),
    authorizationEndpoint: endpoint('Address where the browser signs in.'),
    tokenEndpoint: endpoint(
      'Address where the page exchanges the code. It must accept requests from the origin of the page (CORS).',
    ),
    endSessionEndpoint: endpoint('Address where the browser signs out of the provider.'),
    revocationEndpoint: endpoint('Address where the page revokes the refresh token of a user who signs out.'),
  },
  { description: 'Sign-in to the page with this provider. Default: not offered.' },
);
export type SignInEntry = Static<typeof SignInEntry>;

/** Introspection of opaque tokens (RFC 7662), as a confidential client of the provider. */
const IntrospectionEntry = strict(
  {
    url: secureUrl('Address of the introspection endpoint.'),
    clientId: text('Client ID of Parley at the provider.'),
    clientSecret: secretLine('Client secret of Parley at the provider. Read it from the environment.'),
    cacheSeconds: Type.Integer({
      minimum: 0,
      maximum: 3600,
      default: 60,
      description:
        'Maximum time in seconds during which Parley accepts a token without introspecting it again. A revoked token can work for that time.',
    }),
  },
  {
    description:
      'Introspection (RFC 7662) of tokens that are not JWTs of a configured issuer. Parley queries the providers in the order of their entries. Default: such tokens are rejected.',
  },
);
export type IntrospectionEntry = Static<typeof IntrospectionEntry>;

/** An issuer of tokens. Parley accepts a token wherever it accepts a key. */
export const IdentityProviderEntry = strict(
  {
    issuer: secureUrl('Exact `iss` claim of its tokens. A slash at the end makes a difference.'),
    jwksUrl: Type.Optional(secureUrl('Address of its public keys. Default: from `<issuer>/.well-known/openid-configuration`.')),
    audience: Type.Optional(
      text('Required `aud` claim. Default: any, which is safe only if the issuer serves no other service.'),
    ),
    userIdClaim: claim({ default: 'sub', description: 'Claim with the user ID, such as `sub` or `profile.id`.' }),
    rolesClaim: Type.Optional(
      claim({
        description:
          'Claim with the roles, such as `realm_access.roles`: a list, or a text with spaces. Default: the role `default`.',
      }),
    ),
    projectClaim: Type.Optional(
      claim({
        description:
          'Claim with the project, such as `department`. Default, and for tokens without the claim: the name of the entry.',
      }),
    ),
    introspection: Type.Optional(IntrospectionEntry),
    signIn: Type.Optional(SignInEntry),
  },
  {
    description:
      'An issuer of tokens (JWT), which Parley accepts in place of keys. The ID of a user is the claim for the first issuer, and `jwt:<name>:<claim>` for each further one.',
  },
);
export type IdentityProviderEntry = Static<typeof IdentityProviderEntry>;
