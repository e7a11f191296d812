import type { DropReasons } from '../foreign-object.ts';

const fieldHandling = 'docs/translation.md lists the fields that each protocol drops or rejects';
const upstreamRejects = 'the upstream rejects requests that the model does not support';
const costLimitSuggestion = 'set `costLimit` of a role or a project';

/** Keys of `litellm_params` that are not imported. */
export const unsupportedParams: DropReasons = {
  streamTimeout: 'streams and complete replies have the same timeout, `timeouts.firstByteMs`',
  maxParallelRequests: 'set `maxParallel` of the upstream',
  maxRetries: 'set `maxRetryAttempts` of the model',
  numRetries: 'set `maxRetryAttempts` of the model',
  cooldownTime: 'Parley pauses failing upstreams automatically',
  dropParams: fieldHandling,
  additionalDropParams: fieldHandling,
  allowedOpenaiParams: fieldHandling,
  useInPassThrough: 'Parley has no pass-through endpoints',
  maxBudget: costLimitSuggestion,
  budgetDuration: costLimitSuggestion,
  tags: 'Parley does not select upstreams by tags',
  regionName: 'Parley does not select upstreams by region',
  awsProfileName: 'credentials come from `key` or the environment',
  awsRoleName: 'credentials come from `key` or the environment',
  awsSessionName: 'credentials come from `key` or the environment',
  awsWebIdentityToken: 'credentials come from `key` or the environment',
  vertexProject: 'the project comes from the account or from GOOGLE_VERTEX_PROJECT',
  azureAdToken: 'Parley authenticates to Azure with a key',
  tenantId: 'Parley authenticates to Azure with a key',
  clientId: 'Parley authenticates to Azure with a key',
  clientSecret: 'Parley authenticates to Azure with a key',
  extraBody: 'put optional request fields into `defaults`',
  cacheControlInjectionPoints: 'cache control comes from the client',
  mergeReasoningContentInChoices: 'reasoning is in stages of the reply (docs/wire.md)',
  mockResponse: 'the protocol `demo` answers without a network',
  mockTimeout: null,
  inputCostPerSecond: 'prices are for tokens',
  outputCostPerSecond: 'prices are for tokens',
};

/** Keys of `model_info` that are not imported. */
export const unsupportedInfo: DropReasons = {
  id: null,
  version: 'set `displayVersion` to show it',
  maxTokens: 'set `limits.maxPromptTokens` and `limits.maxCompletionTokens`',
  dbModel: null,
  inputCostPerSecond: 'prices are for tokens',
  outputCostPerSecond: 'prices are for tokens',
  supportsParallelFunctionCalling: upstreamRejects,
  supportsResponseSchema: upstreamRejects,
  supportsPromptCaching: upstreamRejects,
  supportsToolChoice: upstreamRejects,
  supportsPdfInput: upstreamRejects,
  supportsAudioInput: upstreamRejects,
  supportsAudioOutput: upstreamRejects,
  healthCheckTimeout: 'Parley monitors upstreams by their calls',
  healthCheckModel: 'Parley monitors upstreams by their calls',
  accessGroups: 'set `userRoles` of the model',
  teamId: 'set `userRoles` of the model',
  teamPublicModelName: 'a model has one name',
  supportedEnvironments: 'use one configuration file per environment',
  customTokenizer: 'the upstream counts the tokens',
};

const noCallbacks = 'Parley sends metrics and traces over OTLP: set OTEL_EXPORTER_OTLP_ENDPOINT (docs/operations.md)';
const noCache = 'Parley does not cache replies';

/** Keys of `litellm_settings` that are not imported. */
export const unsupportedSettings: DropReasons = {
  dropParams: fieldHandling,
  setVerbose: null,
  telemetry: null,
  jsonLogs: null,
  modifyParams: fieldHandling,
  includeCostInStreamingUsage: 'costs are only in usage (docs/administration.md)',
  callbacks: noCallbacks,
  successCallback: noCallbacks,
  failureCallback: noCallbacks,
  serviceCallbacks: noCallbacks,
  cache: noCache,
  cacheParams: noCache,
  contextWindowFallbacks: 'Parley has no fallback for prompts that are too long',
  contentPolicyFallbacks: 'Parley has no fallback for rejected content',
  allowedFails: 'Parley pauses failing upstreams automatically',
  maxBudget: costLimitSuggestion,
  budgetDuration: costLimitSuggestion,
  defaultTeamSettings: noCallbacks,
  defaultInternalUserParams: 'users come with the tokens of an identity provider (docs/identity.md)',
  turnOffMessageLogging: null,
  redactUserApiKeyInfo: null,
  forceIpv4: 'the system resolves host names',
  mcpAliases: 'name servers in the `mcp_toolset` of quick apps',
};

/** Keys of `router_settings` that are not imported. */
export const unsupportedRouter: DropReasons = {
  redisHost: 'set PARLEY_REDIS_URL if several nodes share state (docs/deploy.md)',
  redisPort: null,
  redisPassword: null,
  redisUrl: 'set PARLEY_REDIS_URL if several nodes share state (docs/deploy.md)',
  timeout: 'set `timeouts` of upstreams',
  enablePreCallChecks: 'the upstream rejects prompts that are too long',
  allowedFails: 'Parley pauses failing upstreams automatically',
  allowedFailsPolicy: 'Parley pauses failing upstreams automatically',
  cooldownTime: 'Parley pauses failing upstreams automatically',
  disableCooldowns: 'Parley pauses failing upstreams automatically',
  retryPolicy: 'Parley retries after 429, 502, 503, 504, and connection failures',
  enableTagFiltering: 'Parley does not select upstreams by tags',
  contextWindowFallbacks: 'Parley has no fallback for prompts that are too long',
  contentPolicyFallbacks: 'Parley has no fallback for rejected content',
};

/** Keys of `general_settings` that are not imported. */
export const unsupportedGeneral: DropReasons = {
  databaseUrl:
    'set PARLEY_DATABASE_URL to a separate database for Parley, and import issued keys by their digests (docs/coming-from.md)',
  databaseConnectionPoolLimit: null,
  databaseConnectionTimeout: null,
  storeModelInDb: 'add the models of the database with `parley apply` or on the administration page',
  alerting: 'set `alerts` for limits (docs/limits.md)',
  alertingThreshold: null,
  customAuth: 'Parley accepts keys, and tokens of an identity provider',
  passThroughEndpoints: 'serve it with the proxy in front of Parley',
  maxParallelRequests: 'set `maxParallel` in the `limits` of a role',
  globalMaxParallelRequests: 'set `maxParallel` of upstreams',
  storePromptsInSpendLogs: 'set `records.content` to `sealed` to store content (docs/operations.md)',
  allowRequestsOnDbUnavailable: 'only keys in configuration files work without the database',
  enableJwtAuth: null,
};

/** Other top-level keys that are not imported. */
export const unsupportedTop: DropReasons = {
  environmentVariables: 'set them in the environment of Parley',
  guardrails: 'Parley has no guardrails, so calls skip them',
  mcpServers: 'name them in the `mcp_toolset` of quick apps (docs/quick-apps.md)',
  finetuneSettings: 'Parley does not serve fine-tuning',
  filesSettings: 'Parley does not serve files of vendors',
  callbackSettings: noCallbacks,
  vectorStoreRegistry: 'quick apps have documents (docs/retrieval.md)',
  searchTools: 'quick apps have tools (docs/quick-apps.md)',
  promptList: 'prompts come from the client',
  include: 'Parley does not read included files, so copy their content here',
};
