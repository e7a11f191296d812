import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EmbeddingModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { pipeFrom, pipeOneFrom } from '#base/stream/async-items.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { Frame } from '#contract/chat/frame.ts';
import { type Attempt, type ChatProtocol, speaksMessages, type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { createClaudeOnVertex } from '../claude-on-vertex.ts';
import { encodeVector, requireVectors } from '../embeddings-reply.ts';
import { findError } from '../find-error.ts';
import { isServerTool, listForeignTools } from '../prompt/select-tools.ts';
import { createIncompleteError } from '../to-upstream-error.ts';
import { type OpenedProvider, openProvider, type ProviderDeps } from './open-provider.ts';
import { PartReader } from './part-reader.ts';
import { toCallOptions } from './to-call-options.ts';
import { toVendorError } from './to-vendor-error.ts';
import type { Vendor } from './vendor.ts';
import { type VendorName, vendors } from './vendors.ts';

export interface VendorDeps extends ProviderDeps {
  /** Called for each request field or feature that the upstream does not support. */
  readonly onUnsupported?: (upstream: Upstream, feature: string) => void;
}

/**
 * Creates the protocol of a vendor whose API is called with the vendor's package of the AI SDK. The package is loaded with the
 * first call. Chat requests are always streamed, and no request is retried. Claude on Vertex does not use the package, because it
 * supports the Messages dialect.
 */
export function createVendorProtocol(name: VendorName, deps: VendorDeps): ChatProtocol {
  const vendor = vendors[name];
  const providers = new WeakMap<Upstream, Promise<OpenedProvider>>();
  /** Opens one provider per upstream. If that fails, the next call tries again. */
  const getProvider = (upstream: Upstream): Promise<OpenedProvider> => {
    const existing = providers.get(upstream);
    if (existing !== undefined) return existing;
    const opening = openProvider(vendor, upstream, deps);
    providers.set(upstream, opening);
    opening.catch(() => providers.delete(upstream));
    return opening;
  };
  const withProvider = async <Result>(upstream: Upstream, signal: AbortSignal, work: ProviderCall<Result>): Promise<Result> => {
    let listSecrets = (): readonly string[] => [];
    const convertError = (error: unknown): unknown => (signal.aborted ? signal.reason : toVendorError(error, listSecrets()));
    const run = async (): Promise<Result> => {
      const opened = await getProvider(upstream);
      listSecrets = opened.listSecrets;
      return await work(opened.provider, convertError);
    };
    try {
      return await raceAbort(run(), signal);
    } catch (error) {
      throw convertError(error);
    }
  };
  const claude = createClaudeOnVertex(deps.http, deps.clock);
  return {
    supportsSeveralChoices: false,
    chat(attempt, reply) {
      const { upstream } = attempt;
      if (speaksMessages(upstream)) return claude.chat(attempt, reply);
      const work = (signal: AbortSignal) =>
        withProvider(upstream, signal, (provider, convertError) =>
          openReply(vendor, { attempt, signal, deps, provider, convertError }),
        );
      return pipeFrom(work, reply);
    },
    embed(attempt, reply) {
      const { upstream } = attempt;
      const work = (signal: AbortSignal) =>
        withProvider(upstream, signal, (provider) => embedTexts(provider.embeddingModel(upstream.model), attempt, signal));
      return pipeOneFrom(work, reply);
    },
  };
}

type ProviderCall<Result> = (provider: OpenedProvider['provider'], convertError: (error: unknown) => unknown) => Promise<Result>;

interface OpenOptions {
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
  readonly deps: VendorDeps;
  readonly provider: OpenedProvider['provider'];
  readonly convertError: (error: unknown) => unknown;
}

/** Sends the request. Returns the frames of the reply when the response headers have arrived. */
async function openReply(
  vendor: Vendor,
  { attempt, signal, deps, provider, convertError }: OpenOptions,
): Promise<AsyncIterable<Frame>> {
  const { upstream, request, headers } = attempt;
  const { model } = upstream;
  const onUnsupported = (feature: string, field: string): void => {
    deps.onUnsupported?.(upstream, feature);
    attempt.onIgnored?.([field]);
  };
  const options = toCallOptions(request, vendor, model);
  for (const field of [...listUnsupportedFields(request, vendor), ...listForeignTools(request, isServerTool)])
    onUnsupported(field, field);
  const { stream } = await provider
    .languageModel(model)
    .doStream({ ...options, headers: { ...headers }, abortSignal: signal, includeRawChunks: true });
  const reader = new PartReader(vendor, Math.floor(deps.clock.epochMs() / 1000), model);
  return readParts(stream, { reader, convertError, onUnsupported });
}

const maxConcurrentBatches = 8;

type EmbedResult = Awaited<ReturnType<EmbeddingModelV4['doEmbed']>>;

/**
 * Returns the reply to an embeddings request of OpenAI's API. Sends as many calls as the vendor's batch limit requires. Throws
 * `UpstreamError` 400 for token input, because each vendor has a different tokenizer.
 */
async function embedTexts(
  model: EmbeddingModelV4,
  { request, upstream, headers }: Attempt<EmbeddingsRequest>,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { dimensions, encoding_format: format } = request;
  const maxPerCall = (await model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY;
  const batches = [...splitIntoBatches(toTexts(request.input), Math.max(1, maxPerCall))];
  const options = { headers: { ...headers }, abortSignal: signal, ...toDimensionOptions(upstream.model, dimensions) };
  const groups = await Array.fromAsync(splitIntoBatches(batches, maxConcurrentBatches), (group) =>
    Promise.all(group.map((values) => model.doEmbed({ ...options, values: [...values] }))),
  );
  const replies = groups.flat();
  const vectors = replies.flatMap(({ embeddings }) => embeddings);
  const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: vector }));
  requireVectors({ data });
  return {
    object: 'list',
    data: format === 'base64' ? data.map((item) => ({ ...item, embedding: encodeVector(item.embedding) })) : data,
    model: upstream.model,
    ...toUsage(replies),
  };
}

/** Returns the options for the vector length. Bedrock's models use different names for it. */
function toDimensionOptions(model: string, dimensions: number | undefined) {
  if (dimensions === undefined) return {};
  const novaName = model.includes('amazon.nova-') ? 'embeddingDimension' : 'dimensions';
  const name = model.includes('cohere.') ? 'outputDimension' : novaName;
  return { dimensions, providerOptions: { [vendors.bedrock.namespace]: { [name]: dimensions } } };
}

function toTexts(input: EmbeddingsRequest['input']): string[] {
  if (typeof input === 'string') return [input];
  if (typeof input[0] === 'string') return input as string[];
  const message = 'The upstream of this model accepts text, not tokens.';
  throw new UpstreamError('refused', message, { status: 400, param: 'input' });
}

/** Returns the usage. Returns an empty object if a reply has no token count. */
function toUsage(replies: readonly EmbedResult[]): JsonObject {
  const counts = replies.map(({ usage }) => usage?.tokens);
  if (!counts.every((count) => typeof count === 'number' && Number.isFinite(count))) return {};
  const tokens = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return { usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Fields that every vendor supports, and fields that Parley handles itself. */
const commonFields: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'addons', 'custom_fields'],
  ...['tools', 'tool_choice', 'functions', 'function_call'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'seed', 'stop'],
  ...['presence_penalty', 'frequency_penalty', 'response_format', 'reasoning_effort'],
]);

/** Returns the request fields that the vendor does not support. The package reports fields that only some models do not support. */
export function listUnsupportedFields(request: ChatRequest, { fields }: Pick<Vendor, 'fields'>): string[] {
  const isUnsupported = ([field, value]: [string, unknown]): boolean =>
    (value ?? null) !== null && !commonFields.has(field) && !fields.includes(field);
  return Object.entries(request)
    .filter(isUnsupported)
    .map(([field]) => field);
}

/** Number of parts that are read in one turn of the event loop. */
const maxPartsPerTurn = 64;

interface ReadPartsDeps {
  readonly reader: PartReader;
  /** Called with each error. Returns the error to throw. */
  readonly convertError: (error: unknown) => unknown;
  /** Called for each feature of the request that the package dropped. `field` is the request field. */
  readonly onUnsupported: (feature: string, field: string) => void;
}

/** Yields the parts of a reply as frames. Throws if the stream contains an error or closes early. A `return` cancels the stream. */
async function* readParts(
  parts: ReadableStream<LanguageModelV4StreamPart>,
  { reader, convertError, onUnsupported }: ReadPartsDeps,
): AsyncIterable<Frame> {
  try {
    for await (const part of yieldTurns(parts)) {
      if (part.type === 'raw') {
        const error = isJsonObject(part.rawValue) ? findError(part.rawValue) : undefined;
        if (error !== undefined) throw error;
        continue;
      }
      if (part.type === 'error') throw part.error;
      if (part.type === 'stream-start')
        for (const warning of part.warnings) onUnsupported(formatWarning(warning), toField(warning));
      const chunks = reader.readPart(part);
      if (chunks.length > 0) yield Frame.ofChunks(...chunks);
    }
  } catch (error) {
    throw convertError(error);
  }
  if (!reader.hasEnded) throw createIncompleteError();
}

/**
 * Yields the parts and starts a new turn of the event loop after every `maxPartsPerTurn` parts. Buffered parts are read in
 * microtasks, so a large number of them would block the event loop.
 */
async function* yieldTurns<Part>(parts: AsyncIterable<Part>): AsyncIterable<Part> {
  let count = 0;
  for await (const part of parts) {
    count += 1;
    if (count % maxPartsPerTurn === 0) await nextTurn();
    yield part;
  }
}

/** Request fields by their names in the packages, if that name is not the field in camel case. */
const renamedFields: ReadonlyMap<unknown, string> = new Map([
  ['stopSequences', 'stop'],
  ['maxOutputTokens', 'max_tokens'],
  ['reasoning', 'reasoning_effort'],
]);

/** Returns the request field that a warning is about. */
function toField(warning: unknown): string {
  const { feature, setting } = toObject(warning);
  const name = [feature, setting].find((candidate) => typeof candidate === 'string') ?? '';
  return renamedFields.get(name) ?? String(name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function formatWarning(warning: unknown): string {
  const { feature, setting, details, message } = toObject(warning);
  return [feature ?? setting, details ?? message].filter((part) => typeof part === 'string').join(': ');
}
