import { type Static, Type } from 'typebox';
import { readLogoData } from '../page/brand.ts';
import { Authorization } from './authorization.ts';
import { buildRecord, httpUrl, milliseconds, network, networkOrHost, strict, text, texts } from './fields.ts';
import { isOrigin, isPathPrefix } from './values.ts';

/** Tools that a request can name under `addons`. */
export const AddonEntry = strict(
  {
    url: httpUrl('Address of an OpenAPI document or a plugin manifest.'),
    displayName: Type.Optional(text('Display name. Default: the name of the entry.')),
    description: Type.Optional(Type.String({ description: 'Purpose. Default: the description in the document.' })),
    authorization: Type.Optional(Authorization),
  },
  { description: 'Tools that a request can name under `addons`.' },
);
export type AddonEntry = Static<typeof AddonEntry>;

const maxPromptChars = 20_000;

/** A prompt that the page offers to the users with a role. */
export const PromptEntry = strict(
  {
    content: text(
      'Text for the message input. A name in double braces, such as `{{city}}`, is a blank for the user.',
      maxPromptChars,
    ),
    userRoles: Type.Optional(texts({ description: 'Roles that can see it. Default: all. Empty: none.' })),
  },
  { description: 'A prompt that the page offers to users.' },
);
export type PromptEntry = Static<typeof PromptEntry>;

const origin = Type.Refine(
  text('Scheme, host, and port, such as `https://addin.example`.'),
  isOrigin,
  () => 'must be an origin as browsers send it, such as https://addin.example',
);

const originOrAny = Type.Refine(
  text('Scheme, host, and port, such as `https://app.example`, or `*`.'),
  (value) => value === '*' || (value !== 'null' && isOrigin(value)),
  () => 'must be an origin as browsers send it, such as https://app.example, or *',
);

/** A model in the model list of the add-in gateway. */
const AddinModel = strict(
  { id: text('ID of the deployment.'), display_name: text('Name shown to people.') },
  { description: 'A model offered to the add-in.' },
);

/** The add-in gateway mounted in the service. */
export const AddinSettings = strict(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether Parley serves the gateway.' }),
    prefix: Type.Refine(
      Type.String({ default: '/addin', description: 'Path before `/msgapi/v1/…`.' }),
      (value) => value.startsWith('/') && isPathPrefix(value.slice(1)),
      () => 'must be a path that begins with a slash and does not end with one, such as /addin',
    ),
    models: Type.Array(AddinModel, { default: [], description: 'Listed models, in this order.' }),
    allowedOrigins: Type.Optional(
      Type.Array(origin, {
        description: 'Allowed origins. Default: any. Empty: none.',
      }),
    ),
  },
  { default: {}, description: 'The gateway for browser add-ins inside the service. See [Add-in gateway](addin.md).' },
);
export type AddinSettings = Static<typeof AddinSettings>;

/** Networks, proxies, and origins that Parley trusts, and the maximum body size. */
export const SecuritySettings = strict(
  {
    allowPrivateNetworks: Type.Array(networkOrHost(), {
      default: [],
      description:
        'Private networks (CIDR), addresses, and hosts that tools, MCP servers, token addresses, and documents can reach.',
    }),
    trustedProxies: Type.Array(network(), {
      default: [],
      description: 'Addresses and networks of trusted proxies. Parley uses their `X-Forwarded-*` header fields.',
    }),
    allowedOrigins: Type.Array(originOrAny, {
      default: [],
      description:
        'Origins of pages that can call the API from a browser (CORS), such as `https://app.example`. `*`: any, without browser credentials.',
    }),
    addonUrls: Type.Enum(['guarded', 'configured'], {
      default: 'guarded',
      description:
        'Addresses that a request can name in `addons`. `guarded`: every address except private ones that `allowPrivateNetworks` lacks. `configured`: only configured addons.',
    }),
    maxBodyBytes: Type.Integer({
      minimum: 1,
      default: 67_108_864,
      description: 'Maximum size of a request body in bytes. A larger one returns 413.',
    }),
  },
  { default: {}, description: 'Networks, proxies, and origins that Parley trusts, and the maximum body size.' },
);
export type SecuritySettings = Static<typeof SecuritySettings>;

export const defaultAliases = { compat: ['openai'], msgapi: ['anthropic'] } as const;

const prefixes = (surface: keyof typeof defaultAliases) =>
  Type.Array(
    Type.Refine(
      Type.String(),
      isPathPrefix,
      () => 'must be a path prefix of letters, digits and . _ ~ - without a slash at either end, such as openai',
    ),
    {
      default: defaultAliases[surface],
      description: `Additional prefixes for \`${surface}\`. Parley reads them only at the start.`,
    },
  );

/** Additional path prefixes of the APIs. */
export const AliasSettings = strict(
  { compat: prefixes('compat'), msgapi: prefixes('msgapi') },
  { default: {}, description: 'Additional path prefixes of the APIs.' },
);
export type AliasSettings = Static<typeof AliasSettings>;

export const ConsentSettings = strict(
  {
    directCalls: Type.Enum(['allow', 'require'], {
      default: 'allow',
      description:
        'Whether a user’s direct call of a deployment needs consent if the deployment’s consent form contains a deployment that requires it. `allow`: no. `require`: yes.',
    }),
  },
  { default: {}, description: 'Consent of users. See [Consent](consent.md).' },
);

const passages = {
  minimum: 1,
  maximum: 100,
  description: 'Maximum number of passages in a search result, each with its neighbors.',
};
const minScore = {
  minimum: 0,
  maximum: 1,
  description:
    'Minimum score of a passage, from 0 to 1: its similarity of meaning, or the share of the question’s words that it contains.',
};

/** Settings for searching the documents of an application. */
export const ApplicationRetrieval = strict(
  {
    passages: Type.Optional(
      Type.Integer({ ...passages, title: 'Passages', description: `${passages.description} Default: the value of the service.` }),
    ),
    minScore: Type.Optional(
      Type.Number({
        ...minScore,
        title: 'Minimum score',
        description: `${minScore.description} Default: the value of the service.`,
      }),
    ),
    maxBytes: Type.Optional(
      Type.Integer({
        title: 'Maximum bytes',
        minimum: 1000,
        description: 'Maximum bytes of a search result. Default: the value of the service.',
      }),
    ),
  },
  { title: 'Document search', description: 'Settings of document search. Default: those of the service.' },
);
export type ApplicationRetrieval = Static<typeof ApplicationRetrieval>;

export const RetrievalSettings = strict(
  {
    embeddingModel: Type.Optional(
      text('ID of a model of type `embedding`. Default: the bundled model, which knows English only.'),
    ),
    passages: Type.Integer({ ...passages, default: 12 }),
    minScore: Type.Number({ ...minScore, default: 0.2 }),
    maxBytes: Type.Optional(
      Type.Integer({ minimum: 1000, description: 'Maximum bytes of a search result. Default: `tools.maxResultBytes`.' }),
    ),
  },
  { default: {}, description: 'Document search. See [Documents](retrieval.md).' },
);

/** Limits of tool runs. */
export const ToolSettings = strict(
  {
    connectMs: milliseconds({
      default: 10_000,
      description:
        'Maximum milliseconds until the connection to a tool is open, and until an MCP server responds for the first time.',
    }),
    listMs: milliseconds({
      default: 10_000,
      description: 'Maximum milliseconds from the first response of an MCP server until it has listed its tools.',
    }),
    timeoutMs: milliseconds({ default: 300_000, description: 'Maximum milliseconds of a tool run.' }),
    maxResultBytes: Type.Integer({
      minimum: 1,
      default: 40_000,
      description: 'Maximum bytes of a tool’s result for the model. The stage shows the full result.',
    }),
    maxTurns: Type.Integer({
      minimum: 1,
      default: 15,
      description: 'Maximum number of model calls in a run. The last call offers no tools, so 1 means no tools.',
    }),
  },
  { default: {}, description: 'Limits of tool runs.' },
);
export type ToolSettings = Static<typeof ToolSettings>;

export const contextStrategies = ['summarize', 'clear', 'off'] as const;

/** Settings for conversations that exceed the context window of a model. */
export const ContextSettings = strict(
  {
    strategy: Type.Enum([...contextStrategies], {
      default: 'summarize',
      description:
        'How Parley shortens a conversation that exceeds the context window. `clear`: it clears the oldest tool results. `summarize`: if that is not enough, the model also summarizes the oldest messages. `off`: no shortening.',
    }),
    reserveTokens: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Tokens of the context window that stay free. Default: a tenth.',
      }),
    ),
  },
  { default: {}, description: 'Conversations of quick apps that exceed the model’s context window.' },
);
export type ContextSettings = Static<typeof ContextSettings>;

export const CounterSettings = strict(
  {
    onStoreFailure: Type.Enum(['refuse', 'allow'], {
      default: 'refuse',
      description: 'Calls while the counter store is unavailable: `refuse` returns 503, `allow` admits them without counting.',
    }),
  },
  { default: {}, description: 'Limits while the counter store is unavailable.' },
);

const mcpHost = Type.String({
  pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^\\s/:@\\[\\]]+)(:[0-9]{1,5})?$',
  errorMessage: 'must be a host without scheme and path, such as mcp.example.com, optionally with a port',
});

/** Limits of stored files. */
export const FileSettings = strict(
  {
    maxFileBytes: Type.Integer({ minimum: 1, default: 536_870_912, description: 'Maximum bytes of one file.' }),
    maxBucketBytes: Type.Integer({
      minimum: 1,
      default: 10_737_418_240,
      description: 'Maximum bytes of all files in one bucket, including uploads in progress.',
    }),
  },
  { default: {}, description: 'Stored files.' },
);

/** Settings for evaluations of applications. */
export const EvaluationSettings = strict(
  {
    maxParallel: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 4,
      description: 'Maximum number of cases of an evaluation that run concurrently. A request can set fewer.',
    }),
    caseTimeoutMs: milliseconds({ default: 600_000, description: 'Maximum milliseconds for the answer to one case.' }),
    keep: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 20,
      description: 'Maximum number of stored evaluations of an application. New ones replace the oldest.',
    }),
    maxBytesPerUser: Type.Integer({
      minimum: 1,
      default: 268_435_456,
      description: 'Maximum bytes of the evaluations of a user. New ones replace the oldest.',
    }),
  },
  { default: {}, description: 'Evaluations of applications. See [Evaluation](evaluation.md).' },
);
export type EvaluationSettings = Static<typeof EvaluationSettings>;

/** Users and groups that an identity provider provisions with SCIM. */
export const ScimSettings = strict(
  {
    provider: Type.Optional(
      text('Name of the entry of `identityProviders` whose users are provisioned. Default: the first entry.'),
    ),
    userAttribute: Type.Enum(['userName', 'externalId'], {
      default: 'userName',
      description: 'Attribute of a provisioned user that equals the `userIdClaim` of tokens.',
    }),
    groups: buildRecord(texts({ description: 'Roles of the members.' }), {
      by: 'group',
      default: {},
      description: 'Roles by the name of a provisioned group. Members have them in addition to the roles of their tokens.',
    }),
  },
  {
    default: {},
    description: 'Provisioning of users and groups with SCIM. See [Identity](identity.md#provision-users-and-groups).',
  },
);

/** Settings for responses that outlive their call. */
export const ResponsesSettings = strict(
  {
    store: Type.Enum(['allow', 'never'], {
      default: 'allow',
      description:
        '`allow`: responses are stored unless a request has `store: false`. `never`: no responses are stored, and no responses or chat runs continue in the background.',
    }),
    retentionDays: Type.Integer({
      minimum: 1,
      maximum: 36_500,
      default: 30,
      description: 'Days until a stored response is deleted. Conversations stay until the user deletes them.',
    }),
    maxBytesPerUser: Type.Integer({
      minimum: 1,
      default: 1_073_741_824,
      description:
        'Maximum bytes of the responses and conversations of a user. New responses replace the oldest. A conversation that does not fit is rejected.',
    }),
    mcpServers: Type.Array(mcpHost, {
      default: [],
      description:
        'Hosts of MCP servers that a request can use (`{"type": "mcp", "server_url"}`), such as `mcp.example.com`, optionally with a port. Parley rejects other hosts.',
    }),
  },
  { default: {}, description: 'Stored responses, and MCP servers of the Responses API. See [Responses](responses.md).' },
);
export type ResponsesSettings = Static<typeof ResponsesSettings>;

/** Settings for usage, call, and audit records. */
export const RecordSettings = strict(
  {
    retentionDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3650,
        description:
          'Days after which Parley removes usage, call, and audit records. Daily totals of usage stay. Default: records are not removed.',
      }),
    ),
    content: Type.Enum(['none', 'sealed'], {
      default: 'none',
      description:
        '`sealed`: Parley also stores the request and the reply of each chat call, encrypted with `PARLEY_SECRET`, and adds them to exported traces. `none`: it stores no content. See [Content](operations.md#content-of-calls).',
    }),
    contentRetentionDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3650,
        description:
          'Days after which Parley removes the content of calls. At most `retentionDays`. Default: 7, or `retentionDays` if that is less.',
      }),
    ),
    maxContentBytes: Type.Integer({
      minimum: 1024,
      maximum: 1_048_576,
      default: 65_536,
      description: 'Maximum bytes that Parley stores of a request, and of a reply. It truncates longer ones.',
    }),
    maxSpendSeries: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 0,
      description:
        'Maximum number of pairs of a project and a deployment in the metric `parley_spend_usd_total`. Further pairs count as `_OTHER`. 0: no such metric.',
    }),
  },
  { default: {}, description: 'Usage, call, and audit records. See [Records](operations.md#records).' },
);
type RecordSettings = Static<typeof RecordSettings>;

const defaultContentDays = 7;

/** Returns the number of past days whose content is kept. */
export function getContentRetentionDays({ contentRetentionDays, retentionDays }: RecordSettings): number {
  return contentRetentionDays ?? Math.min(defaultContentDays, retentionDays ?? defaultContentDays);
}

/** The web page. See [The page](page.md). */
export const PageSettings = strict(
  {
    conversations: Type.Enum(['server', 'browser'], {
      default: 'server',
      description:
        'Where the page stores conversations. `server`: encrypted in the database, available on every device of the user. `browser`: only in the browser. Conversations in the database stay there and are not served.',
    }),
    sharing: Type.Boolean({
      default: true,
      description:
        'Whether users can share a conversation by a link that every user of this service can open. `false`: sharing is disabled, and existing links do not work. Conversations that only the browser stores cannot be shared.',
    }),
    offline: Type.Boolean({
      default: true,
      description:
        'Whether browsers store the page and drafts, so that it opens without a network until the user signs out. `false`: they store both only until the tab is closed, and the next visit removes stored data. Use `false` for shared computers.',
    }),
    titleModel: Type.Optional(
      text(
        'ID of a chat model that suggests titles of conversations. The page calls it once after the first answer, with the start of the question and the answer, and with the rights and limits of the user. It also suggests questions after each answer, if the user turns them on. Default: the first question is the title.',
      ),
    ),
    name: Type.Optional(
      Type.Refine(
        Type.String({ minLength: 1, maxLength: 40, description: 'Name of the page. Default: Parley.' }),
        (text) => /^[^\p{C}]+$/u.test(text) && text === text.trim(),
        () => 'must be one line without spaces around it',
      ),
    ),
    logo: Type.Optional(
      Type.Refine(
        Type.String({
          minLength: 1,
          description:
            'Logo of the page: a file (.svg, .png, .webp, or .jpg, up to 256 KiB, relative to the configuration file, and read with it), or a `data:` URL of such an image in base64. Default: the logo of Parley.',
        }),
        (text) => readLogoData(text) !== undefined,
        () => 'must be a file name, or a base64 data: URL of an SVG, PNG, WebP, or JPEG image of at most 256 KiB',
      ),
    ),
    accent: Type.Optional(
      Type.String({
        pattern: '^#[0-9a-fA-F]{6}$',
        errorMessage: 'must be a color such as #0b57d0',
        description:
          'Color of buttons and links, as `#rrggbb`. Parley adapts it to each theme until text has a contrast of 4.5. Default: the green of Parley.',
      }),
    ),
    notice: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Plain text that users see before they sign in and before a new conversation. Default: none.',
      }),
    ),
  },
  { default: {}, description: 'The web page. See [The page](page.md).' },
);
export type PageSettings = Static<typeof PageSettings>;
