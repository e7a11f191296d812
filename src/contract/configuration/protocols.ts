import type { Vocabulary } from '#base/text/tokens.ts';

/** The model of an upstream, and its endpoint. */
interface ServedModel {
  readonly model: string;
  readonly endpoint: URL | undefined;
}

/** Requirements and capabilities of the upstreams of a protocol. */
export interface ProtocolTraits {
  /** Value of `gen_ai.provider.name` in telemetry. */
  readonly telemetryName: string;
  /** Whether the base address must be configured. Other protocols have a fixed address. */
  readonly needsEndpoint: boolean;
  readonly needsKey: boolean;
  /** Whether chat models accept tools that the client runs, unless the configuration overrides it. */
  readonly supportsTools: boolean;
  /** Whether most upstreams reject a request without an API version. */
  readonly needsApiVersion: boolean;
  /** Accepted kind of key, in addition to a plain API key: a signing key, or the JSON of a service account. */
  readonly structuredKeyKind: 'signing' | 'account' | undefined;
  /** Whether Parley calls the model in the Messages dialect. */
  readonly speaksMessages: (target: ServedModel) => boolean;
  /** Whether upstreams accept marks for prompt caching. Upstreams of the Messages dialect accept them in any case. */
  readonly acceptsCacheControl: boolean;
  /** Whether upstreams accept `top_k` and thinking in the form of the Messages dialect. */
  readonly acceptsThinking: boolean;
  /**
   * Whether upstreams accept `response_format: {"type": "json_object"}`. Models of the Messages dialect do not. Parley adds an
   * instruction to the prompt for models without this format.
   */
  readonly hasJsonMode: boolean;
  /** Whether a request can combine a response schema with tools. */
  readonly acceptsFormatWithTools: (target: ServedModel) => boolean;
  /** Whether the state of replies contains the controls that they offer, so that Parley can check a completed control. */
  readonly storesControls: boolean;
  /** Vendor whose signed thoughts the models accept. If undefined, only thoughts of the same protocol are accepted. */
  readonly thoughtFormat?: 'claude' | 'gemini';
  /** Whether upstreams use the chat dialect of OpenAI. */
  readonly usesChatDialect: boolean;
  /** Whether upstreams accept `reasoning_content` in assistant messages, unless the configuration overrides it. */
  readonly acceptsReasoning: (target: ServedModel) => boolean;
  /** Whether the setting `api` of an upstream can select one of several APIs. */
  readonly hasSeveralApis: boolean;
  /**
   * Whether upstreams are applications that can call other deployments with a per-request key. An error that they report can come
   * from Parley itself.
   */
  readonly callsDeployments: boolean;
  /** Whether Parley calls upstreams at the endpoint of the model, and sends their own endpoint and key in `X-UPSTREAM-…`. */
  readonly usesModelEndpoint: boolean;
  /** Vocabulary of the tokenizer of all models. If undefined, it depends on the model. */
  readonly vocabulary?: Vocabulary;
  /** Whether rejections are passed to the client unchanged, and do not affect the health of the upstream. */
  readonly passesRejections: boolean;
}

const defaultTraits: ProtocolTraits = {
  telemetryName: '_OTHER',
  needsEndpoint: false,
  needsKey: false,
  needsApiVersion: false,
  supportsTools: true,
  structuredKeyKind: undefined,
  speaksMessages: () => false,
  acceptsCacheControl: false,
  acceptsThinking: false,
  hasJsonMode: true,
  acceptsFormatWithTools: () => true,
  storesControls: false,
  usesChatDialect: false,
  acceptsReasoning: () => false,
  hasSeveralApis: false,
  callsDeployments: false,
  usesModelEndpoint: false,
  passesRejections: false,
};

const openai: ProtocolTraits = {
  ...defaultTraits,
  telemetryName: 'openai',
  needsEndpoint: true,
  usesChatDialect: true,
  acceptsReasoning: isReasoningHost,
  hasSeveralApis: true,
};

const modelTraits = {
  openai,
  azure: { ...openai, telemetryName: 'azure.ai.openai', needsApiVersion: true },
  anthropic: {
    ...defaultTraits,
    telemetryName: 'anthropic',
    needsEndpoint: true,
    speaksMessages: () => true,
    acceptsThinking: true,
  },
  bedrock: {
    ...defaultTraits,
    telemetryName: 'aws.bedrock',
    structuredKeyKind: 'signing',
    acceptsCacheControl: true,
    acceptsThinking: true,
    thoughtFormat: 'claude',
    hasJsonMode: false,
    acceptsFormatWithTools: () => false,
  },
  vertex: {
    ...defaultTraits,
    telemetryName: 'gcp.vertex_ai',
    structuredKeyKind: 'account',
    speaksMessages: isClaude,
    acceptsThinking: true,
    thoughtFormat: 'gemini',
    acceptsFormatWithTools: isClaude,
  },
  gemini: {
    ...defaultTraits,
    telemetryName: 'gcp.gemini',
    needsKey: true,
    acceptsThinking: true,
    thoughtFormat: 'gemini',
    acceptsFormatWithTools: () => false,
  },
  mistral: {
    ...defaultTraits,
    telemetryName: 'mistral_ai',
    needsKey: true,
    acceptsReasoning: () => true,
    acceptsFormatWithTools: () => false,
  },
  dial: {
    ...defaultTraits,
    telemetryName: 'parley.dial',
    supportsTools: false,
    acceptsReasoning: () => true,
    callsDeployments: true,
    usesModelEndpoint: true,
  },
  demo: { ...defaultTraits, telemetryName: 'parley.demo', storesControls: true, vocabulary: 'o200k_base' },
} satisfies Record<string, ProtocolTraits>;

type ModelProtocol = keyof typeof modelTraits;

/** Protocol of applications. Upstreams of models cannot use it. */
type ApplicationProtocol = 'application';

export type ProtocolName = ModelProtocol | ApplicationProtocol;

/** Traits of each protocol that other modules need. */
export const protocols: Readonly<Record<ProtocolName, ProtocolTraits>> = {
  ...modelTraits,
  application: {
    ...defaultTraits,
    telemetryName: 'parley.application',
    supportsTools: false,
    needsEndpoint: true,
    acceptsReasoning: () => true,
    callsDeployments: true,
    passesRejections: true,
  },
};

/** Protocols that upstreams of models can use. */
export const modelProtocols = Object.keys(modelTraits) as ModelProtocol[];

/** Maximum number of tokens of a reply in the Messages dialect if neither the request nor the configuration sets a limit. */
export const defaultMessagesTokens = 4096;

/** Protocol of an upstream if neither the upstream nor its model sets one. */
export const defaultProtocol = 'openai' satisfies ModelProtocol;

interface ProtocolSetting {
  readonly protocol?: ModelProtocol;
}

/** Returns the protocol of an upstream, otherwise that of its model. */
export function getProtocol(upstream: ProtocolSetting, model: ProtocolSetting): ModelProtocol {
  return upstream.protocol ?? model.protocol ?? defaultProtocol;
}

/** Returns the traits of a protocol. An invalid protocol has no requirements. */
export function getTraits(protocol: unknown): ProtocolTraits {
  const name = modelProtocols.find((candidate) => candidate === protocol);
  return name === undefined ? defaultTraits : protocols[name];
}

/** Hosts of vendors that never produce `reasoning_content` and reject a request that has it. */
const strictHosts = /(?:^|\.)(?:openai\.com|openai\.azure\.com|groq\.com|cerebras\.ai|mistral\.ai)$/;

function isReasoningHost({ endpoint }: ServedModel): boolean {
  return endpoint === undefined || !strictHosts.test(endpoint.hostname);
}

function isClaude({ model, endpoint }: ServedModel): boolean {
  return /^claude-/i.test(model) || (endpoint?.pathname.includes('/publishers/anthropic') ?? false);
}
