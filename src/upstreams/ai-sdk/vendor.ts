import type { EmbeddingModelV4, LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ProtocolName } from '#contract/configuration/protocols.ts';
import type { UpstreamKey } from '#contract/configuration/upstream-key.ts';
import type { AccountToken } from '../account-token.ts';

/** A vendor that is called with its package of the AI SDK, and the details that the package does not handle. */
export interface Vendor {
  readonly name: ProtocolName;
  /** Key of the package's options and metadata. */
  readonly namespace: string;
  /** Request fields that this vendor supports in addition to the common ones. Further fields are reported as unsupported. */
  readonly fields: readonly string[];
  /** Returns whether the vendor accepts inline files of a media type. */
  acceptsFile(mediaType: string): boolean;
  /** Returns whether the vendor fetches files from a URL. */
  canFetch(url: URL): boolean;
  /** Whether a tool result can contain files. */
  readonly acceptsToolFiles: boolean;
  /** Whether a message can reference a file by the vendor's file ID. */
  readonly acceptsFileIds: boolean;
  /** Whether a part can mark the end of a cached prompt. */
  readonly hasCachePoints: boolean;
  /** Whether a conversation can have calls and results if the request has no tools. */
  readonly acceptsCallsWithoutTools: boolean;
  /** Format of the reasoning that is sent back to the model: signed blocks, plain text, or a signature of calls and text. */
  readonly reasoningFormat: 'signed' | 'plain' | 'signature';
  /** Pattern of call IDs. */
  readonly callIdPattern: RegExp;
  /** Loads the package and creates the models of one upstream. */
  open(settings: ProviderSettings): Promise<Provider>;
  /** Returns the fields of this vendor under the names of its package. */
  toOptions(request: ChatRequest): JsonObject;
  /** Returns the options for reasoning that the request enables. */
  toReasoning(requested: RequestedReasoning, context: ReasoningContext): Reasoning;
}

/** The models of one upstream. */
export interface Provider {
  languageModel(id: string): LanguageModelV4;
  embeddingModel(id: string): EmbeddingModelV4;
}

interface ProviderSettings {
  readonly key: UpstreamKey | undefined;
  readonly region: string | undefined;
  readonly common: {
    readonly baseURL?: string;
    readonly headers: Record<string, string>;
    readonly fetch: typeof globalThis.fetch;
  };
  /** Access token of a service account. */
  readonly token: AccountToken | undefined;
}

export type Effort = NonNullable<LanguageModelV4CallOptions['reasoning']>;

/** `reasoning_effort`, or `thinking` with its budget, which takes precedence. */
export interface RequestedReasoning {
  readonly effort?: Effort;
  /** `budget_tokens` of `thinking`. */
  readonly budget: number | undefined;
  readonly isAdaptive: boolean;
}

export interface ReasoningContext {
  readonly model: string;
  readonly prompt: LanguageModelV4Prompt;
  /** Whether the request requires a tool call. */
  readonly mustCall: boolean;
  /** Maximum tokens of reasoning and answer together. */
  readonly maxTokens: number | undefined;
}

export interface Reasoning {
  readonly effort?: Effort;
  readonly options: JsonObject;
  /** Maximum tokens of the answer without reasoning, if the package adds those of reasoning. */
  readonly maxOutputTokens?: number;
}

export const imageTypes = /^image\/(png|jpeg|gif|webp)$/;

export function isWebUrl({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:';
}
