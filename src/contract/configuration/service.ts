import { type Static, Type } from 'typebox';
import { readLogoData } from '../page/brand.ts';
import { Authorization } from './authorization.ts';
import { httpUrl, milliseconds, network, networkOrHost, strict, text } from './fields.ts';
import { isOrigin, isPathPrefix } from './values.ts';

/** Tools that a request can name under `addons`. */
export const AddonEntry = strict(
  {
    url: httpUrl('Address of an OpenAPI document or a plugin manifest.'),
    displayName: Type.Optional(text('Name shown to people. Absent: the name of the entry.')),
    description: Type.Optional(Type.String({ description: 'What it is for. Absent: what the document says.' })),
    authorization: Type.Optional(Authorization),
  },
  { description: 'Tools that a request can name under `addons`.' },
);
export type AddonEntry = Static<typeof AddonEntry>;

const origin = Type.Refine(
  text('Scheme, host and port, such as `https://addin.example`.'),
  isOrigin,
  () => 'must be scheme, host and port as browsers send them, such as https://addin.example',
);

const originOrAny = Type.Refine(
  text('Scheme, host and port, such as `https://app.example`; or `*`.'),
  (value) => value === '*' || (value !== 'null' && isOrigin(value)),
  () => 'must be scheme, host and port as browsers send them, such as https://app.example, or *',
);

/** A model as the add-in gateway lists it. */
const AddinModel = strict(
  { id: text('Id of the deployment.'), display_name: text('Name shown to people.') },
  { description: 'A model offered to the add-in.' },
);

/** The add-in gateway mounted in the service. */
export const AddinSettings = strict(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether the gateway for browser add-ins is served.' }),
    prefix: Type.Refine(
      Type.String({ default: '/addin', description: 'Path before `/msgapi/v1/…`.' }),
      (value) => value.startsWith('/') && isPathPrefix(value.slice(1)),
      () => 'must be a path that begins with a slash and does not end with one, such as /addin',
    ),
    models: Type.Array(AddinModel, { default: [], description: 'The models it lists, in this order.' }),
    allowedOrigins: Type.Optional(
      Type.Array(origin, {
        description: 'Origins that may call it. Absent: any. Empty: none.',
      }),
    ),
  },
  { default: {}, description: 'The gateway for browser add-ins, mounted in the service.' },
);
export type AddinSettings = Static<typeof AddinSettings>;

/** Whom the service trusts and how much it takes in. */
export const SecuritySettings = strict(
  {
    allowPrivateNetworks: Type.Array(networkOrHost(), {
      default: [],
      description:
        'Private networks (CIDR), addresses and hosts that tools, MCP, token addresses and documents may reach. Empty: none.',
    }),
    trustedProxies: Type.Array(network(), {
      default: [],
      description: 'Addresses and networks of trusted proxies, whose `X-Forwarded-*` header fields count. Empty: none.',
    }),
    allowedOrigins: Type.Array(originOrAny, {
      default: [],
      description:
        'Origins of pages that may call the API from a browser (CORS), such as `https://app.example`. `*`: any, without credentials of the browser. Empty: none.',
    }),
    addonUrls: Type.Enum(['guarded', 'configured'], {
      default: 'guarded',
      description:
        'Addresses that a request can name under `addons`. `guarded`: every address that the network guard of tools allows. `configured`: only the addresses of configured addons.',
    }),
    maxBodyBytes: Type.Integer({
      minimum: 1,
      default: 67_108_864,
      description: 'Largest request body in bytes; a larger one is refused with 413.',
    }),
  },
  { default: {}, description: 'Whom the service trusts and how much it takes in.' },
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
      description: `Prefixes that stand for \`${surface}\` as well. Empty: none. Read at start only.`,
    },
  );

/** Further path prefixes of the surfaces. */
export const AliasSettings = strict(
  { compat: prefixes('compat'), msgapi: prefixes('msgapi') },
  { default: {}, description: 'Further path prefixes of the surfaces.' },
);
export type AliasSettings = Static<typeof AliasSettings>;

export const ConsentSettings = strict(
  {
    directCalls: Type.Enum(['allow', 'require'], {
      default: 'allow',
      description: 'Whether a user’s own call to an application that requires consent passes without it.',
    }),
  },
  { default: {}, description: 'Consent of users.' },
);

const passages = {
  minimum: 1,
  maximum: 100,
  description: 'How many passages a search gives at most, each with its neighbours.',
};
const minScore = {
  minimum: 0,
  maximum: 1,
  description: 'How well a passage must fit to be given, from 0 to 1: by its meaning, or by its share of the words.',
};

/** How an application searches its documents. */
export const RetrievalOfApplication = strict(
  {
    passages: Type.Optional(
      Type.Integer({ ...passages, title: 'Passages', description: `${passages.description} Absent: as the service has it.` }),
    ),
    minScore: Type.Optional(
      Type.Number({ ...minScore, title: 'Lowest score', description: `${minScore.description} Absent: as the service has it.` }),
    ),
    maxBytes: Type.Optional(
      Type.Integer({
        title: 'Most bytes',
        minimum: 1000,
        description: 'Bytes that a search gives at most. Absent: as the service has it.',
      }),
    ),
  },
  { title: 'Search in documents', description: 'How documents are searched. Absent: as the service has it.' },
);
export type RetrievalOfApplication = Static<typeof RetrievalOfApplication>;

export const RetrievalSettings = strict(
  {
    embeddingModel: Type.Optional(
      text('Id of a model of type `embedding` for the search in documents. Absent: the one built in, which knows English alone.'),
    ),
    passages: Type.Integer({ ...passages, default: 12 }),
    minScore: Type.Number({ ...minScore, default: 0.2 }),
    maxBytes: Type.Optional(
      Type.Integer({ minimum: 1000, description: 'Bytes that a search gives at most. Absent: `tools.maxResultBytes`.' }),
    ),
  },
  { default: {}, description: 'Search in documents.' },
);

/** Bounds of tool runs. */
export const ToolSettings = strict(
  {
    connectMs: milliseconds({
      default: 10_000,
      description: 'Milliseconds until the connection to a tool stands, and until an MCP server answered for the first time.',
    }),
    listMs: milliseconds({ default: 10_000, description: 'Milliseconds from then until an MCP server listed its tools.' }),
    timeoutMs: milliseconds({ default: 300_000, description: 'Milliseconds that one tool run may take.' }),
    maxResultBytes: Type.Integer({
      minimum: 1,
      default: 40_000,
      description: 'Bytes of a tool’s result that the model is shown; the stage keeps the whole.',
    }),
    maxTurns: Type.Integer({
      minimum: 1,
      default: 15,
      description: 'Calls of the model in one run; the last one has no tools. 1: no tools at all.',
    }),
  },
  { default: {}, description: 'Bounds of tool runs.' },
);
export type ToolSettings = Static<typeof ToolSettings>;

export const contextStrategies = ['summarize', 'clear', 'off'] as const;

/** What is done with conversations that are longer than a model takes. */
export const ContextSettings = strict(
  {
    strategy: Type.Enum([...contextStrategies], {
      default: 'summarize',
      description:
        'What is done if a conversation of a quick app is longer than its model takes. `clear`: the oldest results of tools are cleared. `summarize`: the same, and where that is not enough the model sums up the oldest messages. `off`: nothing.',
    }),
    reserveTokens: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Tokens of what the model takes that are kept free. Absent: a tenth.',
      }),
    ),
  },
  { default: {}, description: 'Conversations of quick apps that are longer than their model takes.' },
);
export type ContextSettings = Static<typeof ContextSettings>;

export const LimitSettings = strict(
  {
    onStoreFailure: Type.Enum(['refuse', 'allow'], {
      default: 'refuse',
      description:
        'What happens to calls while the store of the counters is down: refused with 503, or allowed without counting.',
    }),
  },
  { default: {}, description: 'Counting of limits.' },
);

const mcpHost = Type.String({
  pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^\\s/:@\\[\\]]+)(:[0-9]{1,5})?$',
  errorMessage: 'must be a host such as mcp.example.com, or one with a port: no scheme, no path',
});

/** Bounds of stored files. */
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

/** Runs of cases against applications. */
export const EvaluationSettings = strict(
  {
    maxParallel: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 4,
      description: 'Cases of one evaluation that are asked at once; one may ask for fewer.',
    }),
    caseTimeoutMs: milliseconds({ default: 600_000, description: 'Milliseconds that the answer to one case may take.' }),
    keep: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 20,
      description: 'Evaluations of one application that are kept; the oldest make room for new ones.',
    }),
    maxBytesPerUser: Type.Integer({
      minimum: 1,
      default: 268_435_456,
      description: 'Bytes that the evaluations of one user may take. The oldest make room for new ones.',
    }),
  },
  { default: {}, description: 'Evaluations of applications.' },
);
export type EvaluationSettings = Static<typeof EvaluationSettings>;

/** Responses that outlive their call. */
export const ResponsesSettings = strict(
  {
    store: Type.Enum(['allow', 'never'], {
      default: 'allow',
      description:
        'Whether responses are stored, which they are unless a request says `store: false`. `never`: none is, and none runs in the background.',
    }),
    retentionDays: Type.Integer({
      minimum: 1,
      maximum: 36_500,
      default: 30,
      description: 'Days until a stored response is deleted. Conversations stay until they are deleted by hand.',
    }),
    maxBytesPerUser: Type.Integer({
      minimum: 1,
      default: 1_073_741_824,
      description:
        'Bytes that the responses and conversations of one user may take. The oldest responses make room for new ones; a conversation that finds none is refused.',
    }),
    mcpServers: Type.Array(mcpHost, {
      default: [],
      description:
        'Hosts of MCP servers whose tools a request may name (`{"type": "mcp", "server_url"}`), such as `mcp.example.com`, or with a port. Any other is refused.',
    }),
  },
  { default: {}, description: 'The Responses API: what is stored, and which MCP servers may be named.' },
);
export type ResponsesSettings = Static<typeof ResponsesSettings>;

/** The page for people. */
export const PageSettings = strict(
  {
    conversations: Type.Enum(['server', 'browser'], {
      default: 'server',
      description:
        'Where the page keeps conversations. `server`: in the database, sealed, the same on every device of a user. `browser`: in the browser alone; what the database has of them stays there, and is not served.',
    }),
    sharing: Type.Boolean({
      default: true,
      description:
        'Whether users may share a conversation by a link, which any user of this service can open who has it. `false`: nothing is shared, and links that were given out lead nowhere as long as it stands. Conversations that are kept in the browser alone cannot be shared.',
    }),
    offline: Type.Boolean({
      default: true,
      description:
        'Whether browsers keep the page and drafts, so that it opens without a network, with the conversations that they have, until the user signs out. `false`: they keep neither beyond the tab, and what they kept of them is removed when the page is opened next; for computers that many people use.',
    }),
    titleModel: Type.Optional(
      text(
        'Id of a chat model that names conversations of the page. It is asked once, behind the first answer, by the page itself: with the rights of the user, counted to the limits and the usage of the user. It is sent the beginnings of the question and the answer. Absent: a conversation is called by its first question.',
      ),
    ),
    name: Type.Optional(
      Type.Refine(
        Type.String({ minLength: 1, maxLength: 40, description: 'What the page calls itself. Absent: Parley.' }),
        (text) => /^[^\p{C}]+$/u.test(text) && text === text.trim(),
        () => 'must be one line without spaces around it',
      ),
    ),
    logo: Type.Optional(
      Type.Refine(
        Type.String({
          minLength: 1,
          description:
            'The mark of the page: a file (.svg, .png, .webp or .jpg, up to 256 KiB; a relative name begins at the folder of this configuration; read whenever that is) or a `data:` address of such a picture in base64. Absent: the mark of Parley.',
        }),
        (text) => readLogoData(text) !== undefined,
        () => 'must be the name of a file, or a data: address in base64 of an SVG, PNG, WebP or JPEG picture, of at most 256 KiB',
      ),
    ),
    accent: Type.Optional(
      Type.String({
        pattern: '^#[0-9a-fA-F]{6}$',
        errorMessage: 'must be a colour such as #0b57d0',
        description:
          'The colour of buttons and links, as `#rrggbb`. It is made darker on the light page, and lighter on the dark one, as far as text in it takes to be read (a contrast of 4.5). Absent: the green of Parley.',
      }),
    ),
    notice: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Plain text that everybody reads before signing in and before a new conversation.',
      }),
    ),
  },
  { default: {}, description: 'The page for people.' },
);
export type PageSettings = Static<typeof PageSettings>;
