import { type Static, Type } from 'typebox';
import { passThroughApis } from '../pass-through.ts';
import {
  apiVersion,
  buildRecord,
  fieldBounds,
  headerValue,
  httpUrl,
  milliseconds,
  openObject,
  secretHeaderValue,
  secretLine,
  strict,
  text,
  texts,
  withinChars,
} from './fields.ts';
import { defaultProtocol, modelProtocols } from './protocols.ts';

/** Timeouts of an upstream. */
const Timeouts = strict(
  {
    connectMs: milliseconds({ default: 10_000, description: 'Milliseconds until the connection is open, including TLS.' }),
    firstByteMs: milliseconds({
      default: 300_000,
      description:
        'Milliseconds from the request to the first byte of the reply’s content. Some servers send the header fields earlier.',
    }),
    idleMs: milliseconds({ default: 120_000, description: 'Milliseconds between two parts of a reply.' }),
  },
  { default: {}, description: 'Timeouts of this upstream.' },
);

const apis = ['chat', 'responses', ...passThroughApis] as const;

/** An outside endpoint that serves a model. */
export const UpstreamEntry = strict(
  {
    protocol: Type.Optional(
      Type.Enum(modelProtocols, {
        description:
          'Protocol of the upstream. `demo` answers without a network. `dial` is an adapter at the `endpoint` of the model. Default: the `protocol` of the model.',
      }),
    ),
    endpoint: Type.Optional(
      httpUrl(
        'Base address: `…/v1` for `openai`, `anthropic` and `mistral`, `…/openai/deployments/<name>` for `azure`, `…/v1beta` for `gemini`, `…/publishers/google` for `vertex` (`…/publishers/anthropic` for Claude), and only the host for `bedrock`. For `dial`, the value of `X-UPSTREAM-ENDPOINT` for the adapter. Required for the dialects of OpenAI and Anthropic. Default for other protocols: the address of the vendor.',
      ),
    ),
    apiVersion: Type.Optional(
      apiVersion(
        'For `azure`: API version, `YYYY-MM-DD` or `YYYY-MM-DD-preview`. By default, the field is not sent. For `anthropic`: value of `anthropic-version`, which overrides the version of the client. Default: the version of the client, or `2023-06-01`.',
      ),
    ),
    api: Type.Union([Type.Enum([...apis, 'both']), Type.Array(Type.Enum(apis), { minItems: 1, uniqueItems: true })], {
      default: 'chat',
      description:
        'OpenAI APIs that an `openai` or `azure` upstream serves: `chat`, `responses`, or the path of an API that is passed through. `both` is short for `chat` and `responses`, and is not allowed in a list. Responses requests are relayed to upstreams that serve them. A model supports chat if one of its upstreams serves `chat` or `responses`. A model of type `embedding` ignores this key.',
    }),
    region: Type.Optional(
      text(
        'For `bedrock` and `vertex`: region of the vendor, such as `eu-central-1`. Default: the environment variable `AWS_REGION` or `GOOGLE_VERTEX_LOCATION`. `vertex` in express mode has no region.',
      ),
    ),
    key: Type.Optional(
      secretLine(
        'Secret key of the upstream. Read it from the environment. `bedrock`: a Bedrock API key, `accessKeyId:secretAccessKey`, or `accessKeyId:secretAccessKey:sessionToken`. `vertex`: a key of express mode, or the JSON of a service account as one string. Required for `gemini` and `mistral`. Default: no key is sent. `bedrock` and `vertex` then use the credentials of the environment (`AWS_*`, Google’s application default credentials).',
      ),
    ),
    extraData: Type.Optional(
      Type.Union([headerValue('Sent unchanged.'), openObject({ description: 'Sent as JSON.' })], {
        writeOnly: true,
        description: 'For `dial`: value of `X-UPSTREAM-EXTRA-DATA` for the adapter. Default: not sent.',
      }),
    ),
    model: Type.Optional(text('Model name at the upstream. Default: the ID of the model.')),
    headers: buildRecord(secretHeaderValue('Value of the header field.'), {
      by: 'field',
      default: {},
      description: 'Additional header fields of every request.',
    }),
    acceptsReasoning: Type.Optional(
      Type.Boolean({
        description:
          'For `openai` and `azure`: whether the reasoning of earlier replies is sent back in `reasoning_content`. DeepSeek and Moonshot require it, other vendors reject it. `true`: in a conversation with tool calls, an assistant message without reasoning is sent with a space instead. Default: `true` for the addresses of DeepSeek and Moonshot. Other addresses receive existing reasoning, except OpenAI, Azure OpenAI, Groq, Cerebras, and Mistral.',
      }),
    ),
    unsupportedFields: Type.Array(Type.String({ pattern: '^(?!(?:model|messages|input|stream)$)\\w+$' }), {
      default: [],
      description:
        'Request fields that the model rejects, such as `temperature` and `top_p`. Parley omits them and names them in `Parley-Ignored`. `model`, `messages`, `input`, and `stream` cannot be omitted.',
    }),
    foldSystemMessages: Type.Boolean({
      default: true,
      description:
        'For `openai` and `azure`: whether all system and developer messages of a request are joined into one leading message. Many self-hosted models require this. Consecutive user messages from the Messages or Responses API are joined too. `false`: all messages stay in place.',
    }),
    weight: Type.Number({
      minimum: 0,
      default: 1,
      description: 'Share of the calls among the upstreams of one tier. 0: no calls.',
    }),
    tier: Type.Integer({
      minimum: 0,
      default: 0,
      description:
        'Upstreams with the lowest tier are used first. The next tier is used if all of them fail or have `maxParallel` calls in progress.',
    }),
    maxParallel: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Maximum number of calls in progress at the upstream, per node. Further calls use other upstreams, also of higher tiers, or wait in the `queue` of the model. Default: unlimited.',
      }),
    ),
    timeouts: Timeouts,
  },
  { description: 'An outside endpoint that serves the model.' },
);
export type UpstreamEntry = Static<typeof UpstreamEntry>;

const servedAt = (what: string) =>
  httpUrl(
    `Full address of a service that ${what}. Parley calls it with a per-request key and never lists it. Default: the built-in behavior.`,
  );

const feature = (byDefault: boolean, description: string) => Type.Boolean({ default: byDefault, description });

/** Capabilities of a deployment that are announced to clients, under their names in the configuration. */
const announced = {
  systemPromptSupported: feature(true, 'Whether it uses messages with the role `system`. Listed as `system_prompt`.'),
  reasoningSupported: feature(
    false,
    'Whether it reasons before it answers, according to `reasoning_effort`, which the page then offers. Listed as `reasoning`.',
  ),
  seedSupported: feature(false, 'Whether it accepts a seed. Listed as `seed`.'),
  urlAttachmentsSupported: feature(false, 'Whether it reads attachments from web addresses. Listed as `url_attachments`.'),
  folderAttachmentsSupported: feature(false, 'Whether it reads folders as attachments. Listed as `folder_attachments`.'),
  allowResume: feature(true, 'Whether an interrupted reply can be continued. Listed as `allow_resume`.'),
};

/** Features that a deployment announces and requires. Clients receive further keys unchanged. */
const Features = withinChars(
  Type.Unsafe<{ consentRequired: boolean; accessibleByPerRequestKey?: boolean; [feature: string]: unknown }>({
    type: 'object',
    maxProperties: fieldBounds.maxProperties,
    properties: {
      consentRequired: Type.Boolean({
        default: false,
        description: 'Whether an application needs the user’s consent to call this deployment.',
      }),
      accessibleByPerRequestKey: feature(
        true,
        'Whether applications can call it for their users. Listed as `accessible_by_per_request_key`.',
      ),
      ...announced,
      toolsSupported: Type.Boolean({
        description:
          'Whether it accepts tools that the client runs. Listed as `tools`. Default: `true` for chat models of every protocol except `dial`, otherwise `false`.',
      }),
      recordsContent: Type.Boolean({
        description:
          'Whether `records.content: sealed` applies to its calls. `false`: Parley never records their content. Default: `true`.',
      }),
      configurationEndpoint: servedAt('returns the settings that a conversation can have'),
      rateEndpoint: servedAt('receives the users’ ratings of replies'),
      tokenizeEndpoint: servedAt('counts tokens'),
      truncatePromptEndpoint: servedAt('selects the messages to remove from a conversation that is too long'),
    },
    required: ['consentRequired', 'accessibleByPerRequestKey', ...Object.keys(announced)],
    default: {},
    description:
      'Features of the deployment. Listings show other keys unchanged, except addresses. A misspelled known key is an error. At most 200 keys and 16,384 characters of JSON.',
  }),
  16_384,
);

const common = {
  displayName: Type.Optional(text('Display name. Default: the ID.', fieldBounds.maxNameChars)),
  displayVersion: Type.Optional(text('Display version. Default: none.', fieldBounds.maxNameChars)),
  description: Type.Optional(
    Type.String({
      maxLength: fieldBounds.maxTextChars,
      description: 'Purpose, shown to users and to models that can call it as a tool. Default: none.',
    }),
  ),
  iconUrl: Type.Optional(text('Address of an icon for lists. Default: none.', fieldBounds.maxLineChars)),
  userRoles: Type.Optional(texts({ description: 'Roles that can see and call it. Default: all. Empty: none.' })),
  features: Features,
  defaults: openObject({
    default: {},
    description: 'Default values for request fields, such as `temperature`. They follow the rules for requests.',
  }),
  inputAttachmentTypes: Type.Optional(
    texts({ description: 'Media types of attachments that it reads, such as `image/*`. Default: not announced.' }),
  ),
  maxInputAttachments: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Maximum number of attachments in one user message. Default: not announced. 0: none.',
    }),
  ),
  dependencies: texts({
    default: [],
    description: 'IDs of the deployments that it calls. They determine the consent form.',
  }),
};

const tokenCount = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

/** Token limits of one call to a model. */
const ModelLimits = strict(
  {
    maxTotalTokens: tokenCount('Maximum tokens of prompt and reply together. Default: unknown.'),
    maxPromptTokens: tokenCount('Maximum tokens of the prompt. Default: unknown.'),
    maxCompletionTokens: tokenCount('Maximum tokens of the reply. Default: unknown.'),
  },
  { description: 'Token limits of one call. Default: unknown.' },
);

const price = (description: string) => Type.Number({ minimum: 0, description });

const ModelPricing = strict(
  {
    request: Type.Optional(
      price('USD for each call, in addition to its tokens. Use it for images and audio without token counts. Default: 0.'),
    ),
    prompt: Type.Optional(price('USD for each token of the prompt. Default: 0.')),
    completion: Type.Optional(price('USD for each token of the reply. Default: 0.')),
    cacheRead: Type.Optional(price('USD for each token read from the upstream’s cache. Default: `prompt`.')),
    cacheWrite: Type.Optional(price('USD for each token written to the upstream’s cache. Default: `prompt`.')),
    cacheWrite1h: Type.Optional(
      price('USD for each token written to the upstream’s cache for an hour instead of 5 minutes. Default: `cacheWrite`.'),
    ),
  },
  { description: 'Prices in USD, for costs and cost limits. Default: free.' },
);

const attempts = (defaultAttempts: number) =>
  Type.Integer({
    minimum: 1,
    default: defaultAttempts,
    description: 'Maximum number of attempts of a call, including the first. 1: no retry.',
  });

/** Queue for calls while every upstream has `maxParallel` calls in progress. */
const Queue = strict(
  {
    maxWaiting: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 1_000,
      description:
        'Maximum number of waiting calls, per node. In a full queue, a new call replaces the newest one of the caller with the most waiting calls. Rejected calls receive 503 with `Retry-After`. 0: no waiting.',
    }),
    maxWaitMs: milliseconds({
      default: 30_000,
      description: 'Maximum wait in milliseconds. A call that would probably wait longer is rejected immediately.',
    }),
  },
  {
    default: {},
    description:
      'Queue for calls while every upstream has `maxParallel` calls in progress. Callers take turns, and calls of roles with the `priority` `batch` come last.',
  },
);

/** A model and the upstreams that serve it. */
export const ModelEntry = strict(
  {
    type: Type.Enum(['chat', 'embedding'], { default: 'chat', description: 'Whether the model chats or computes embeddings.' }),
    protocol: Type.Optional(
      Type.Enum(modelProtocols, {
        description: `Protocol of upstreams without their own \`protocol\`. Default: \`${defaultProtocol}\`.`,
      }),
    ),
    endpoint: Type.Optional(
      httpUrl(
        'Full address of an adapter that is written for the DIAL family of gateways. Required for `dial` upstreams, and not allowed for other protocols.',
      ),
    ),
    upstreams: Type.Array(UpstreamEntry, { minItems: 1, description: 'Endpoints that serve the model, at least one.' }),
    ...common,
    limits: Type.Optional(ModelLimits),
    pricing: Type.Optional(ModelPricing),
    queue: Queue,
    maxRetryAttempts: attempts(5),
  },
  { description: 'A model and the upstreams that serve it.' },
);
export type ModelEntry = Static<typeof ModelEntry>;

/** Maximum number of characters of JSON. The body that saves an application has at most 512 KiB. */
const maxSettingsChars = 512 * 1024;

/** An application with its own endpoint, or settings of a type that Parley runs. */
export const ApplicationEntry = strict(
  {
    endpoint: Type.Optional(
      httpUrl(
        'Full address of a service with the chat completion API. See [Write an application](write-an-application.md). Default: `applicationTypeSchemaId` defines how the application runs.',
      ),
    ),
    applicationTypeSchemaId: Type.Optional(
      text(
        'Schema ID of the application’s type. Without an `endpoint`, it must end with `/custom_application_schemas/quickapps`: Parley runs the quick app. With an `endpoint`, any ID is allowed, and the application receives its own ID in `X-DIAL-APPLICATION-ID`. Default: no type.',
      ),
    ),
    applicationProperties: Type.Optional(
      openObject({
        maxChars: maxSettingsChars,
        description:
          'Settings of that type. For a quick app, see the [quick-app reference](quick-app-reference.md). Default: none.',
      }),
    ),
    forwardAuthToken: Type.Optional(
      Type.Boolean({
        description:
          'Whether the application receives the user’s token (JWT) in `Authorization`. Keys are never sent. The application can act as the user with it. Only for applications of the configuration. Default: `false`.',
      }),
    ),
    ...common,
    users: Type.Optional(
      texts({
        description:
          'IDs of users who can see and call it, as in `GET /v1/user/info`. If it is set, only they and the roles in `userRoles` can. Default: none.',
      }),
    ),
    maxRetryAttempts: attempts(1),
  },
  { description: 'An application with its own endpoint, or settings of a type that Parley runs.' },
);
export type ApplicationEntry = Static<typeof ApplicationEntry>;
