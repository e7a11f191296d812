import type { Vocabulary } from '#base/text/tokens.ts';

/** The model of an upstream and where it is reached. */
interface Served {
  readonly model: string;
  readonly endpoint: URL | undefined;
}

/** What upstreams of one protocol need in the configuration, and what they can do. */
export interface ProtocolTraits {
  /** Value of `gen_ai.provider.name` in telemetry. */
  readonly telemetryName: string;
  /** Whether the base address must be configured; others have one of their own. */
  readonly needsEndpoint: boolean;
  readonly needsKey: boolean;
  /** Whether its chat models accept tools that the client runs, unless the configuration says otherwise. */
  readonly supportsTools: boolean;
  /** Whether most upstreams refuse a request that names no version of the API. */
  readonly needsApiVersion: boolean;
  /** Which key is read besides one token for a header field: one that signs requests, or the JSON of a service account. */
  readonly otherKey: 'signing' | 'account' | undefined;
  /** Whether a model is spoken to in the Messages dialect. */
  readonly speaksMessages: (target: Served) => boolean;
  /** Whether they know marks up to which a prompt is cached, besides those that speak the Messages dialect. */
  readonly takesCacheMarks: boolean;
  /** Whether they know `top_k` and thinking as the Messages dialect has them. */
  readonly takesThinking: boolean;
  /** Whether they know `response_format: {"type": "json_object"}`, but for models that speak the Messages dialect: others are told in their instructions. */
  readonly hasJsonMode: boolean;
  /** Whether a request may ask for an answer of a schema and offer tools at once. */
  readonly takesFormatWithTools: (target: Served) => boolean;
  /** Whether their replies record in their state the controls that they offer. */
  readonly keepsControls: boolean;
  /** Whose signed thoughts their models take back; absent: those of the protocol alone. */
  readonly thoughtFormat?: 'claude' | 'gemini';
  /** Whether they speak OpenAI's chat dialect. */
  readonly speaksChat: boolean;
  /** Whether they accept `reasoning_content` in the assistant's messages, if the configuration does not say. */
  readonly takesReasoning: (target: Served) => boolean;
  /** Whether an upstream may say which of several APIs it serves. */
  readonly hasSeveralApis: boolean;
  /** Whether they are programs that may call other deployments, with a key that is made for the request: a refusal that they report can be Parley's own. */
  readonly callsDeployments: boolean;
  /** Whether they are called at the endpoint of the model, and told of their own endpoint and key in `X-UPSTREAM-…`. */
  readonly isCalledByModel: boolean;
  /** What all their models count tokens with; absent: that depends on the model. */
  readonly vocabulary?: Vocabulary;
  /** Whether what they refuse is told to the caller as they say it, and is never a sign of their health. */
  readonly speaksForItself: boolean;
}

const plain: ProtocolTraits = {
  telemetryName: '_OTHER',
  needsEndpoint: false,
  needsKey: false,
  needsApiVersion: false,
  supportsTools: true,
  otherKey: undefined,
  speaksMessages: () => false,
  takesCacheMarks: false,
  takesThinking: false,
  hasJsonMode: true,
  takesFormatWithTools: () => true,
  keepsControls: false,
  speaksChat: false,
  takesReasoning: () => false,
  hasSeveralApis: false,
  callsDeployments: false,
  isCalledByModel: false,
  speaksForItself: false,
};

const ofModels = {
  openai: {
    ...plain,
    telemetryName: 'openai',
    needsEndpoint: true,
    speaksChat: true,
    takesReasoning: isLenient,
    hasSeveralApis: true,
  },
  azure: {
    ...plain,
    telemetryName: 'azure.ai.openai',
    needsEndpoint: true,
    needsApiVersion: true,
    speaksChat: true,
    takesReasoning: isLenient,
    hasSeveralApis: true,
  },
  anthropic: { ...plain, telemetryName: 'anthropic', needsEndpoint: true, speaksMessages: () => true, takesThinking: true },
  bedrock: {
    ...plain,
    telemetryName: 'aws.bedrock',
    otherKey: 'signing',
    takesCacheMarks: true,
    takesThinking: true,
    thoughtFormat: 'claude',
    hasJsonMode: false,
    takesFormatWithTools: () => false,
  },
  vertex: {
    ...plain,
    telemetryName: 'gcp.vertex_ai',
    otherKey: 'account',
    speaksMessages: isClaude,
    takesThinking: true,
    thoughtFormat: 'gemini',
    takesFormatWithTools: isClaude,
  },
  gemini: {
    ...plain,
    telemetryName: 'gcp.gemini',
    needsKey: true,
    takesThinking: true,
    thoughtFormat: 'gemini',
    takesFormatWithTools: () => false,
  },
  mistral: {
    ...plain,
    telemetryName: 'mistral_ai',
    needsKey: true,
    takesReasoning: () => true,
    takesFormatWithTools: () => false,
  },
  dial: {
    ...plain,
    telemetryName: 'parley.dial',
    supportsTools: false,
    takesReasoning: () => true,
    callsDeployments: true,
    isCalledByModel: true,
  },
  demo: { ...plain, telemetryName: 'parley.demo', keepsControls: true, vocabulary: 'o200k_base' },
} satisfies Record<string, ProtocolTraits>;

type ModelProtocol = keyof typeof ofModels;

/** How applications are spoken to: no upstream of a model has it. */
type ApplicationProtocol = 'application';

export type ProtocolName = ModelProtocol | ApplicationProtocol;

/** What is known of each protocol outside of its own module. */
export const protocols: Readonly<Record<ProtocolName, ProtocolTraits>> = {
  ...ofModels,
  application: {
    ...plain,
    telemetryName: 'parley.application',
    supportsTools: false,
    needsEndpoint: true,
    takesReasoning: () => true,
    callsDeployments: true,
    speaksForItself: true,
  },
};

/** The protocols that an upstream of a model can name. */
export const modelProtocols = Object.keys(ofModels) as ModelProtocol[];

/** Maximum number of tokens of a reply in the Messages dialect if neither the request nor the configuration sets a limit. */
export const defaultMessagesTokens = 4096;

/** The protocol of an upstream that names none, of a model that names none. */
export const defaultProtocol = 'openai' satisfies ModelProtocol;

interface NamesProtocol {
  readonly protocol?: ModelProtocol;
}

/** The protocol of an upstream: its own, else that of its model. */
export function protocolFor(upstream: NamesProtocol, model: NamesProtocol): ModelProtocol {
  return upstream.protocol ?? model.protocol ?? defaultProtocol;
}

/** The traits of a protocol that a configuration may have wrong: an unknown one needs nothing. */
export function getTraits(protocol: unknown): ProtocolTraits {
  const name = modelProtocols.find((candidate) => candidate === protocol);
  return name === undefined ? plain : protocols[name];
}

/** Hosts of vendors that never produce `reasoning_content` and reject a request that has it. */
const strictHosts = /(?:^|\.)(?:openai\.com|openai\.azure\.com|groq\.com|cerebras\.ai|mistral\.ai)$/;

function isLenient({ endpoint }: Served): boolean {
  return endpoint === undefined || !strictHosts.test(endpoint.hostname);
}

function isClaude({ model, endpoint }: Served): boolean {
  return /^claude-/i.test(model) || (endpoint?.pathname.includes('/publishers/anthropic') ?? false);
}
