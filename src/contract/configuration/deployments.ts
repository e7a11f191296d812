import { type Static, Type } from 'typebox';
import { passThroughApis } from '../pass-through.ts';
import {
  apiVersion,
  buildRecord,
  fieldBounds,
  headerValue,
  httpUrl,
  milliseconds,
  open,
  strict,
  text,
  texts,
  withinChars,
} from './fields.ts';
import { defaultProtocol, modelProtocols } from './protocols.ts';

/** Time limits towards one upstream. */
const Timeouts = strict(
  {
    connectMs: milliseconds({ default: 10_000, description: 'Milliseconds until the connection stands, TLS included.' }),
    firstByteMs: milliseconds({
      default: 300_000,
      description:
        'Milliseconds from the request being sent to the first byte of the reply’s content; some servers send its head at once.',
    }),
    idleMs: milliseconds({ default: 120_000, description: 'Milliseconds between two pieces of a reply.' }),
  },
  { default: {}, description: 'Time limits towards this upstream.' },
);

const apis = ['chat', 'responses', ...passThroughApis] as const;

/** One outside endpoint that serves a model. */
export const UpstreamEntry = strict(
  {
    protocol: Type.Optional(
      Type.Enum(modelProtocols, {
        description:
          'The language the upstream speaks. `demo` answers by itself, without a network; `dial` is an adapter at the `endpoint` of the model. Absent: the `protocol` of the model.',
      }),
    ),
    endpoint: Type.Optional(
      httpUrl(
        'Base address: `…/v1` for `openai`, `anthropic` and `mistral`, `…/openai/deployments/<name>` for `azure`, `…/v1beta` for `gemini`, `…/publishers/google` for `vertex` (`…/publishers/anthropic` for Claude), the host alone for `bedrock`. For `dial` what the adapter is told in `X-UPSTREAM-ENDPOINT`. Required for the dialects of OpenAI and Anthropic; absent elsewhere: the vendor’s own address.',
      ),
    ),
    apiVersion: Type.Optional(
      apiVersion(
        'Version named to an `azure` upstream, `YYYY-MM-DD` or `YYYY-MM-DD-preview`. Absent: none is named. For `anthropic` the value of `anthropic-version`, which then wins over the version that the client sends. Absent: that of the client, else `2023-06-01`.',
      ),
    ),
    api: Type.Union([Type.Enum([...apis, 'both']), Type.Array(Type.Enum(apis), { minItems: 1, uniqueItems: true })], {
      default: 'chat',
      description:
        'Which of OpenAI’s APIs an upstream of the protocol `openai` or `azure` serves, one or a list: chat completions, the Responses API (`both` is these two), and those that are passed through, each named by its path. Callers of the Responses API are relayed where it is served. A model chats if one of its upstreams serves `chat` or `responses`; one of the type `embedding` makes embeddings whatever this says.',
    }),
    region: Type.Optional(
      text(
        'Region of the vendor, such as `eu-central-1`, for `bedrock` and `vertex`. Absent: `AWS_REGION` or `GOOGLE_VERTEX_LOCATION` of the environment; `vertex` in express mode has none.',
      ),
    ),
    key: Type.Optional(
      text(
        'Secret key of the upstream, best read from the environment. `bedrock`: a Bedrock API key, or `accessKeyId:secretAccessKey`, or `accessKeyId:secretAccessKey:sessionToken`. `vertex`: a key of express mode, or the JSON of a service account as one string. Required for `gemini` and `mistral`. Absent: none is sent; `bedrock` and `vertex` then use the credentials of the environment (`AWS_*`, Google’s application default credentials).',
        fieldBounds.maxLineChars,
      ),
    ),
    extraData: Type.Optional(
      Type.Union([headerValue('Sent as it is.'), open({ description: 'Sent as JSON.' })], {
        description: 'What an adapter (`dial`) is told in `X-UPSTREAM-EXTRA-DATA`. Absent: nothing.',
      }),
    ),
    model: Type.Optional(text('The name the upstream knows the model by. Absent: the id of the model.')),
    headers: buildRecord(headerValue('Value of the header field.'), {
      by: 'field',
      default: {},
      description: 'Further header fields sent with every request.',
    }),
    acceptsReasoning: Type.Optional(
      Type.Boolean({
        description:
          'For `openai` and `azure`: whether the thoughts of earlier replies are sent back in `reasoning_content`. DeepSeek and Moonshot require them, other vendors reject them. `true`: in a conversation with tool calls, an assistant message without thoughts is sent with a blank in their place. Absent: `true` for the addresses of DeepSeek and Moonshot. All other addresses receive the thoughts that exist, except those of OpenAI, Azure OpenAI, Groq, Cerebras and Mistral.',
      }),
    ),
    unsupportedFields: Type.Array(Type.String({ pattern: '^(?!(?:model|messages|input|stream)$)\\w+$' }), {
      default: [],
      description:
        'Fields of a request that the model refuses, such as `temperature` and `top_p`. They are left out, and named in `Parley-Ignored`. `model`, `messages`, `input` and `stream` cannot be left out.',
    }),
    foldSystemMessages: Type.Boolean({
      default: true,
      description:
        'For `openai` and `azure`: whether all system and developer messages of a request are joined into one message at its beginning. Many self-hosted models require this. Consecutive messages of the user are joined as well if they come from the Messages or the Responses API. `false`: all of them stay in place.',
    }),
    weight: Type.Number({
      minimum: 0,
      default: 1,
      description: 'Share of the calls among the upstreams of one tier. 0: it gets none.',
    }),
    tier: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Upstreams of a lower tier are used first; the next tier is for when they all fail.',
    }),
    timeouts: Timeouts,
  },
  { description: 'An outside endpoint that serves the model.' },
);
export type UpstreamEntry = Static<typeof UpstreamEntry>;

const servedAt = (what: string) =>
  httpUrl(
    `Full address of a program that ${what}; called with a per-request key, and shown to nobody. Absent: the service does what it can itself.`,
  );

const feature = (byDefault: boolean, description: string) => Type.Boolean({ default: byDefault, description });

/** What callers are told that a deployment can do, in words of the configuration. */
const announced = {
  systemPromptSupported: feature(true, 'Listed as `system_prompt`: messages of the role `system` count.'),
  reasoningSupported: feature(
    false,
    'Listed as `reasoning`: it thinks before it answers, as much as `reasoning_effort` says; the page then offers to set that.',
  ),
  seedSupported: feature(false, 'Listed as `seed`: it takes a seed.'),
  urlAttachmentsSupported: feature(false, 'Listed as `url_attachments`: it reads attachments at addresses of the web.'),
  folderAttachmentsSupported: feature(false, 'Listed as `folder_attachments`: it reads folders as attachments.'),
  allowResume: feature(true, 'Listed as `allow_resume`: a reply that broke off can be gone on with.'),
};

/** Features that a deployment announces and requires. Clients receive further keys unchanged. */
const Features = withinChars(
  Type.Unsafe<{ consentRequired: boolean; accessibleByPerRequestKey?: boolean; [feature: string]: unknown }>({
    type: 'object',
    maxProperties: fieldBounds.maxProperties,
    properties: {
      consentRequired: Type.Boolean({
        default: false,
        description: 'Whether another application needs the consent of the user before it may call this deployment.',
      }),
      accessibleByPerRequestKey: feature(
        true,
        'Whether applications may call it on behalf of their users. Listed as `accessible_by_per_request_key`.',
      ),
      ...announced,
      toolsSupported: Type.Boolean({
        description:
          'Whether it accepts tools that the client runs. Listed as `tools`. Absent: `true` for chat models of every protocol but `dial`, otherwise `false`.',
      }),
      configurationEndpoint: servedAt('says how a conversation may be configured'),
      rateEndpoint: servedAt('takes what users think of a reply'),
      tokenizeEndpoint: servedAt('counts tokens'),
      truncatePromptEndpoint: servedAt('says which messages of a conversation that is too long to leave out'),
    },
    required: ['consentRequired', 'accessibleByPerRequestKey', ...Object.keys(announced)],
    default: {},
    description:
      'What the deployment can do; further keys are shown in listings as they are, but for addresses. A misspelt key is a fault. At most 200 keys and 16,384 characters of JSON.',
  }),
  16_384,
);

const common = {
  displayName: Type.Optional(text('Name shown to people. Absent: the id.', fieldBounds.maxNameChars)),
  displayVersion: Type.Optional(text('Version shown to people. Absent: none is shown.', fieldBounds.maxNameChars)),
  description: Type.Optional(
    Type.String({
      maxLength: fieldBounds.maxTextChars,
      description: 'What it is for, shown to people and to models that may call it as a tool. Absent: nothing is.',
    }),
  ),
  iconUrl: Type.Optional(text('Address of a picture for lists. Absent: none.', fieldBounds.maxLineChars)),
  userRoles: Type.Optional(texts({ description: 'Roles that may see and call it. Absent: everyone. Empty: no one.' })),
  features: Features,
  defaults: open({
    default: {},
    description: 'Fields put into a request that does not have them, such as `temperature`. They follow the rules for a request.',
  }),
  inputAttachmentTypes: Type.Optional(
    texts({ description: 'MIME types of attachments it reads, such as `image/*`. Absent: not announced.' }),
  ),
  maxInputAttachments: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How many attachments a request may have. Absent: not announced. 0: none.' }),
  ),
  dependencies: texts({
    default: [],
    description: 'Ids of the deployments it calls; the consent form is made from them.',
  }),
};

const tokenCount = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

/** Bounds of one call to a model, in tokens. */
const ModelLimits = strict(
  {
    maxTotalTokens: tokenCount('Tokens of prompt and reply together. Absent: unknown.'),
    maxPromptTokens: tokenCount('Tokens of the prompt. Absent: unknown.'),
    maxCompletionTokens: tokenCount('Tokens of the reply. Absent: unknown.'),
  },
  { description: 'Bounds of one call. Absent: unknown.' },
);

const price = (description: string) => Type.Number({ minimum: 0, description });

/** Prices of a model. */
const ModelPricing = strict(
  {
    request: Type.Optional(
      price('USD a call, besides its tokens: for pictures and sound, which often have no token counts. Absent or 0: free.'),
    ),
    prompt: Type.Optional(price('USD a token of the prompt. Absent or 0: free.')),
    completion: Type.Optional(price('USD a token of the reply. Absent or 0: free.')),
    cacheRead: Type.Optional(price('USD a token read from the upstream’s cache. Absent: as `prompt`. 0: free.')),
    cacheWrite: Type.Optional(price('USD a token written to the upstream’s cache. Absent: as `prompt`. 0: free.')),
    cacheWrite1h: Type.Optional(
      price('USD a token written to the upstream’s cache for an hour instead of 5 minutes. Absent: as `cacheWrite`. 0: free.'),
    ),
  },
  { description: 'Prices in USD, for cost limits. Absent: calls cost nothing.' },
);

const attempts = (tries: number) =>
  Type.Integer({
    minimum: 1,
    default: tries,
    description: 'How often one call is tried in all, the first time included. 1: never again.',
  });

/** A model and the upstreams that serve it. */
export const ModelEntry = strict(
  {
    type: Type.Enum(['chat', 'embedding'], { default: 'chat', description: 'What the model does.' }),
    protocol: Type.Optional(
      Type.Enum(modelProtocols, {
        description: `The protocol of the upstreams that name none. Absent: \`${defaultProtocol}\`.`,
      }),
    ),
    endpoint: Type.Optional(
      httpUrl(
        'Full address of an adapter, a program that is written for this family of gateways; called as it is. Required for upstreams with the protocol `dial`; absent elsewhere.',
      ),
    ),
    upstreams: Type.Array(UpstreamEntry, { minItems: 1, description: 'The endpoints that serve it, at least one.' }),
    ...common,
    limits: Type.Optional(ModelLimits),
    pricing: Type.Optional(ModelPricing),
    maxRetryAttempts: attempts(5),
  },
  { description: 'A model and the upstreams that serve it.' },
);
export type ModelEntry = Static<typeof ModelEntry>;

/** Characters of JSON. The body that saves an application has at most 512 KiB. */
const maxSettingsChars = 512 * 1024;

/** An application: an endpoint of its own, or settings of a type that the service runs itself. */
export const ApplicationEntry = strict(
  {
    endpoint: Type.Optional(
      httpUrl('Full address, called as it is; it speaks the compat wire. Absent: `applicationTypeSchemaId` says how it runs.'),
    ),
    applicationTypeSchemaId: Type.Optional(
      text(
        'Schema id of the application’s type. Without an `endpoint` it ends in `/custom_application_schemas/quickapps`: a quick app, which the service runs. Beside one it may be any; the application is told its id in `X-DIAL-APPLICATION-ID`. Absent: it has no type.',
      ),
    ),
    applicationProperties: Type.Optional(
      open({ maxChars: maxSettingsChars, description: 'Settings of that type. Absent: it has none, or no type.' }),
    ),
    forwardAuthToken: Type.Optional(
      Type.Boolean({
        description:
          'Whether the application is sent the token (JWT) of a user who calls it, in `Authorization`; never a key. Only for applications of the configuration: whoever has the token is the user. Absent: it is not.',
      }),
    ),
    ...common,
    maxRetryAttempts: attempts(1),
  },
  { description: 'An application: an endpoint of its own, or settings of a type that the service runs itself.' },
);
export type ApplicationEntry = Static<typeof ApplicationEntry>;
