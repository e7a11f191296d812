import { type Static, Type } from 'typebox';
import { buildRecord, fieldBounds, network, strict, text, texts } from './fields.ts';
import { isHttpUrl, isWithoutUser, parseTime } from './values.ts';

/** Who holds a key. Its name in `keys` is the key itself, unless `key` or `sha256` says it. */
export const KeyEntry = strict(
  {
    project: text('Whom the key stands for; callers with it have the subject `key:<project>`.'),
    role: Type.Optional(text('The one role of the key; not beside `roles`. Absent: `roles`, else `default`.')),
    roles: Type.Optional(texts({ description: 'The roles of the key; not beside `role`. Absent: `role`, else `default`.' })),
    key: Type.Optional(
      text(
        'The secret key, best read from the environment; the name of the entry is then only a name. Absent: `sha256`, else the name of the entry is the key.',
      ),
    ),
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-fA-F]{64}$',
        errorMessage: 'must be a SHA-256 digest: 64 hexadecimal digits',
        description:
          'The SHA-256 digest of the secret key, in hexadecimal, so that the configuration need not hold the key; not beside `key`. The name of the entry is then only a name. Safe for long random keys only: a short one is found from its digest.',
      }),
    ),
    expiresAt: Type.Optional(
      Type.Refine(
        Type.String({
          description:
            'The date and time when the key expires, in ISO 8601 with a time zone, such as `2027-01-31T18:00:00Z`. After this time, Parley rejects the key and ends its calls. Absent: the key does not expire.',
        }),
        (time) => parseTime(time) !== undefined,
        () => 'must be a date and time with a time zone, such as 2027-01-31T18:00:00Z',
      ),
    ),
    allowedIps: Type.Optional(
      Type.Array(network(), {
        maxItems: fieldBounds.maxItems,
        description: 'Addresses and networks (CIDR) that Parley accepts the key from. Absent: any. Empty: none.',
      }),
    ),
    deployments: Type.Optional(
      texts({
        description:
          'IDs of the deployments that the key can call. The key is then a [bound key](wire.md#bound-keys). Absent: all that its roles open. Empty: none.',
      }),
    ),
  },
  { description: 'A key and whom it stands for.' },
);
export type KeyEntry = Static<typeof KeyEntry>;

const count = (what: string) => Type.Optional(Type.Integer({ description: `${what}. Absent: unlimited. 0 or less: no access.` }));
const money = (window: string) =>
  Type.Optional(Type.Number({ description: `USD ${window}. Absent: unlimited. 0 or less: no access.` }));

/** What one user of a role may use of one deployment. */
const DeploymentLimit = strict(
  {
    minute: count('Tokens a minute'),
    day: count('Tokens a day'),
    week: count('Tokens a week'),
    month: count('Tokens a month'),
    requestMinute: count('Requests a minute'),
    requestHour: count('Requests an hour'),
    requestDay: count('Requests a day'),
  },
  { description: 'Limits for one deployment, by calendar in UTC; weeks begin on Monday.' },
);

/** What one user of a role may spend. */
const CostLimit = strict(
  { day: money('a day'), week: money('a week'), month: money('a month') },
  { description: 'Money that may be spent over all deployments. Absent: unlimited.' },
);

/** Keys that users make for themselves. */
const SelfService = strict(
  {
    keys: Type.Integer({ minimum: 1, maximum: 100, description: 'How many keys in force a user may have at once.' }),
    maxDays: Type.Integer({ minimum: 1, maximum: 3650, description: 'Days that such a key lives at most.' }),
  },
  {
    description:
      'Lets users of the role who sign in with an identity provider make keys for themselves (`/v1/user/keys`). Of several roles the most generous counts. Absent: the role gives no right to it; the keys of users whom no role gives it are refused.',
  },
);
export type SelfService = Static<typeof SelfService>;

/** What callers of a role may use. */
export const RoleEntry = strict(
  {
    limits: buildRecord(DeploymentLimit, {
      by: 'deployment id or *',
      default: {},
      description: 'Limits by deployment id; `*` stands for every deployment that is not named. Absent: unlimited.',
    }),
    costLimit: Type.Optional(CostLimit),
    selfService: Type.Optional(SelfService),
  },
  { description: 'What callers of the role may use. The role `default` holds for callers whose roles are not configured.' },
);
export type RoleEntry = Static<typeof RoleEntry>;

/** An https: address, or an http: one of this machine: what comes from elsewhere could be anybody's. */
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
    () => 'must be a claim or a dotted path of claims, none of them empty or with spaces around it',
  );

const endpoint = (what: string) =>
  Type.Optional(secureUrl(`${what} Absent: what \`<issuer>/.well-known/openid-configuration\` says.`));

/** How people sign in to the page with the provider: by authorization code with PKCE, as a public client. */
const SignInEntry = strict(
  {
    clientId: text('The id of the page as a public client of the provider; there is no secret.'),
    displayName: Type.Optional(text('What the button on the page calls the provider. Absent: the name of the entry.')),
    scopes: texts({ default: ['openid'], description: 'The scopes that are asked for, such as `openid` and `offline_access`.' }),
    token: Type.Enum(['access_token', 'id_token'], {
      default: 'access_token',
      description:
        'Which token the page sends. It must be a signed JWT with the `audience` of the entry; `id_token` is for providers whose access tokens are opaque.',
    }),
    parameters: buildRecord(Type.String(), {
      by: 'parameter',
      default: {},
      description:
        'More parameters of the authorization request, such as `audience`, `prompt` or `resource`; the last is sent with token requests as well.',
    }),
    authorizationEndpoint: endpoint('Where the browser goes to sign in.'),
    tokenEndpoint: endpoint('Where the page exchanges the code; it must take requests from the origin of the page (CORS).'),
    endSessionEndpoint: endpoint('Where the browser goes to sign out of the provider itself.'),
    revocationEndpoint: endpoint('Where the page revokes the refresh token of a user who signs out.'),
  },
  { description: 'How people sign in to the page with the provider. Absent: they cannot.' },
);
export type SignInEntry = Static<typeof SignInEntry>;

/** Who issues tokens that are accepted wherever a key is. */
export const IdentityProviderEntry = strict(
  {
    issuer: secureUrl('The `iss` claim of its tokens, to the letter: a slash at its end counts.'),
    jwksUrl: Type.Optional(
      secureUrl('Where its public keys are read. Absent: what `<issuer>/.well-known/openid-configuration` says.'),
    ),
    audience: Type.Optional(
      text('The `aud` claim that tokens must carry. Absent: any, which is safe only where the issuer serves nobody else.'),
    ),
    userIdClaim: claim({ default: 'sub', description: 'The claim that names the user, such as `sub` or `profile.id`.' }),
    rolesClaim: Type.Optional(
      claim({
        description:
          'The claim that lists the roles, such as `realm_access.roles`: a list, or text with spaces between. Absent: the role `default`.',
      }),
    ),
    signIn: Type.Optional(SignInEntry),
  },
  {
    description:
      'An issuer of tokens (JWT) that are accepted wherever a key is. Users of the first one go by their plain claim, those of the others by `jwt:<name>:<claim>`.',
  },
);
export type IdentityProviderEntry = Static<typeof IdentityProviderEntry>;
