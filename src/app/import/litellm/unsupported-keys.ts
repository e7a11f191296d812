import type { DropReasons } from '../foreign-object.ts';

const ownDeal = 'docs/compatibility.md lists what each protocol drops or rejects';
const leftToUpstream = 'what a model can do is left to its upstream, which refuses what it cannot';
const noBudgets = 'bound callers by `costLimit` of their role';

/** Keys of `litellm_params` that are not imported. */
export const unsupportedParams: DropReasons = {
  streamTimeout: 'one time limit holds for streams and whole replies, `timeouts.firstByteMs`',
  maxRetries: 'tries are counted for the model, in `maxRetryAttempts`',
  numRetries: 'tries are counted for the model, in `maxRetryAttempts`',
  cooldownTime: 'Parley leaves failing upstreams alone by itself',
  dropParams: ownDeal,
  additionalDropParams: ownDeal,
  allowedOpenaiParams: ownDeal,
  useInPassThrough: 'nothing is passed through',
  maxBudget: noBudgets,
  budgetDuration: noBudgets,
  tags: 'upstreams are not chosen by tags',
  regionName: 'upstreams are not chosen by region',
  awsProfileName: 'credentials come from `key` or the environment',
  awsRoleName: 'credentials come from `key` or the environment',
  awsSessionName: 'credentials come from `key` or the environment',
  awsWebIdentityToken: 'credentials come from `key` or the environment',
  vertexProject: 'the project is that of the account, or GOOGLE_VERTEX_PROJECT',
  azureAdToken: 'Azure is sent a key',
  tenantId: 'Azure is sent a key',
  clientId: 'Azure is sent a key',
  clientSecret: 'Azure is sent a key',
  extraBody: 'put what callers may leave out into `defaults`',
  cacheControlInjectionPoints: 'marks of a cache are those of the caller',
  mergeReasoningContentInChoices: 'thoughts stand in stages of the reply (docs/wire.md)',
  mockResponse: 'the protocol `demo` answers without a network',
  mockTimeout: null,
  inputCostPerSecond: 'prices are for tokens',
  outputCostPerSecond: 'prices are for tokens',
};

/** Keys of `model_info` that are not imported. */
export const unsupportedInfo: DropReasons = {
  id: null,
  version: 'write it into `displayVersion` if people should see it',
  maxTokens: 'write `limits.maxPromptTokens` and `limits.maxCompletionTokens`',
  dbModel: null,
  inputCostPerSecond: 'prices are for tokens',
  outputCostPerSecond: 'prices are for tokens',
  supportsParallelFunctionCalling: leftToUpstream,
  supportsResponseSchema: leftToUpstream,
  supportsPromptCaching: leftToUpstream,
  supportsToolChoice: leftToUpstream,
  supportsPdfInput: leftToUpstream,
  supportsAudioInput: leftToUpstream,
  supportsAudioOutput: leftToUpstream,
  healthCheckTimeout: 'upstreams are watched by their calls',
  healthCheckModel: 'upstreams are watched by their calls',
  accessGroups: 'name roles in `userRoles` of the model',
  teamId: 'name roles in `userRoles` of the model',
  teamPublicModelName: 'a model has one name',
  supportedEnvironments: 'keep a configuration file for each environment',
  customTokenizer: 'tokens are those that the upstream counts',
};

const noCallbacks = 'measures and traces go out over OTLP: OTEL_EXPORTER_OTLP_ENDPOINT (docs/operations.md)';
const noCache = 'replies are not cached';

/** Keys of `litellm_settings` that are not imported. */
export const unsupportedSettings: DropReasons = {
  dropParams: ownDeal,
  setVerbose: null,
  telemetry: null,
  jsonLogs: null,
  modifyParams: ownDeal,
  includeCostInStreamingUsage: 'cost stands in usage alone (docs/administration.md)',
  callbacks: noCallbacks,
  successCallback: noCallbacks,
  failureCallback: noCallbacks,
  serviceCallbacks: noCallbacks,
  cache: noCache,
  cacheParams: noCache,
  contextWindowFallbacks: 'no model stands in for another when a prompt is too long',
  contentPolicyFallbacks: 'no model stands in for another when content is refused',
  allowedFails: 'Parley leaves failing upstreams alone by itself',
  maxBudget: noBudgets,
  budgetDuration: noBudgets,
  defaultTeamSettings: noCallbacks,
  defaultInternalUserParams: 'users come with the tokens of an identity provider (docs/identity.md)',
  turnOffMessageLogging: null,
  redactUserApiKeyInfo: null,
  forceIpv4: 'addresses are as the system resolves them',
  mcpAliases: 'name servers in the `mcp_toolset` of quick apps',
};

/** Keys of `router_settings` that are not imported. */
export const unsupportedRouter: DropReasons = {
  redisHost: 'set PARLEY_REDIS_URL where several nodes share state (docs/deploy.md)',
  redisPort: null,
  redisPassword: null,
  redisUrl: 'set PARLEY_REDIS_URL where several nodes share state (docs/deploy.md)',
  timeout: 'give upstreams `timeouts`',
  enablePreCallChecks: 'prompts that are too long are refused by the upstream',
  allowedFails: 'Parley leaves failing upstreams alone by itself',
  allowedFailsPolicy: 'Parley leaves failing upstreams alone by itself',
  cooldownTime: 'Parley leaves failing upstreams alone by itself',
  disableCooldowns: 'Parley leaves failing upstreams alone by itself',
  retryPolicy: 'calls are tried again after 429, 502, 503, 504 and connection failures',
  enableTagFiltering: 'upstreams are not chosen by tags',
  contextWindowFallbacks: 'no model stands in for another when a prompt is too long',
  contentPolicyFallbacks: 'no model stands in for another when content is refused',
};

/** Keys of `general_settings` that are not imported. */
export const unsupportedGeneral: DropReasons = {
  databaseUrl:
    'set PARLEY_DATABASE_URL to a database of Parley’s own; issued keys can be carried by their digests (docs/coming-from.md)',
  databaseConnectionPoolLimit: null,
  databaseConnectionTimeout: null,
  storeModelInDb: 'models are those of the configuration; write those of the database there',
  alerting: noCallbacks,
  alertingThreshold: null,
  customAuth: 'callers have keys, or tokens of an identity provider',
  passThroughEndpoints: 'nothing is passed through; serve it by the proxy before Parley',
  maxParallelRequests: 'bound callers by `roles`',
  globalMaxParallelRequests: 'bound callers by `roles`',
  storePromptsInSpendLogs: 'content is never kept',
  allowRequestsOnDbUnavailable: 'keys are those of the configuration and need no database',
  enableJwtAuth: null,
};

/** Other top-level keys that are not imported. */
export const unsupportedTop: DropReasons = {
  environmentVariables: 'set them in the environment of Parley',
  guardrails: 'Parley has no guardrails; calls pass without them',
  mcpServers: 'name them in the `mcp_toolset` of quick apps (docs/quick-apps.md)',
  finetuneSettings: 'fine-tuning is not served',
  filesSettings: 'the files of vendors are not served',
  callbackSettings: noCallbacks,
  vectorStoreRegistry: 'documents are those of quick apps (docs/retrieval.md)',
  searchTools: 'tools are those of quick apps (docs/quick-apps.md)',
  promptList: 'prompts are those of the caller',
  include: 'files it names are not read; put their content in its place',
};
