import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EmbeddingModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { pipeFrom, pipeOneFrom } from '#base/stream/pump.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { Frame } from '#contract/chat/frame.ts';
import { type Attempt, type ChatProtocol, speaksMessages, type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { createClaudeOnVertex } from '../claude-on-vertex.ts';
import { encodeVector, requireVectors } from '../embeddings-reply.ts';
import { findError } from '../find-error.ts';
import { type OpenProvider, openProvider, type ProviderDeps } from './open-provider.ts';
import { PartReader } from './part-reader.ts';
import { listVendorTools, toCallOptions } from './to-call-options.ts';
import { toVendorError } from './to-vendor-error.ts';
import type { Vendor } from './vendor.ts';
import { type VendorName, vendors } from './vendors.ts';

export interface VendorDeps extends ProviderDeps {
  /** Called with each part of a request that its upstream's dialect has nothing for. */
  readonly onUnsupported?: (upstream: Upstream, what: string) => void;
}

/**
 * Upstreams of a vendor with a dialect of its own, spoken by the vendor's package of the AI SDK, which is loaded with the first
 * call. Asked for a stream always; tried once. A Claude behind Vertex needs none of them: it speaks the Messages dialect.
 */
export function createVendorProtocol(name: VendorName, deps: VendorDeps): ChatProtocol {
  const vendor = vendors[name];
  const providers = new Providers(vendor, deps);
  const withProvider = async <Result>(upstream: Upstream, signal: AbortSignal, work: Work<Result>): Promise<Result> => {
    let listSecrets = (): readonly string[] => [];
    const convertError = (error: unknown): unknown => (signal.aborted ? signal.reason : toVendorError(error, listSecrets()));
    const run = async (): Promise<Result> => {
      const opened = await providers.get(upstream);
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
    hasChoices: false,
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

type Work<Result> = (provider: OpenProvider['provider'], convertError: (error: unknown) => unknown) => Promise<Result>;

interface OpenOptions {
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
  readonly deps: VendorDeps;
  readonly provider: OpenProvider['provider'];
  readonly convertError: (error: unknown) => unknown;
}

/** Asks, and gives the reply once its head is there. */
async function openReply(
  vendor: Vendor,
  { attempt, signal, deps, provider, convertError }: OpenOptions,
): Promise<AsyncIterable<Frame>> {
  const { upstream, request, headers } = attempt;
  const { model } = upstream;
  const onUnsupported = (what: string, field: string): void => {
    deps.onUnsupported?.(upstream, what);
    attempt.onIgnored?.([field]);
  };
  const options = toCallOptions(request, vendor, model);
  for (const field of [...listUnsupportedFields(request, vendor), ...listVendorTools(request)]) onUnsupported(field, field);
  const { stream } = await provider
    .languageModel(model)
    .doStream({ ...options, headers: { ...headers }, abortSignal: signal, includeRawChunks: true });
  const reader = new PartReader(vendor, Math.floor(deps.clock.epochMs() / 1000), model);
  return readParts(stream, { reader, convertError, onUnsupported });
}

/** The providers of upstreams, opened once each; one that cannot be opened is tried anew. */
class Providers {
  readonly #vendor: Vendor;
  readonly #deps: VendorDeps;
  readonly #byUpstream = new WeakMap<Upstream, Promise<OpenProvider>>();

  constructor(vendor: Vendor, deps: VendorDeps) {
    this.#vendor = vendor;
    this.#deps = deps;
  }

  get(upstream: Upstream): Promise<OpenProvider> {
    const existing = this.#byUpstream.get(upstream);
    if (existing !== undefined) return existing;
    const opening = openProvider(this.#vendor, upstream, this.#deps);
    this.#byUpstream.set(upstream, opening);
    opening.catch(() => this.#byUpstream.delete(upstream));
    return opening;
  }
}

const maxConcurrentBatches = 8;

type Embedded = Awaited<ReturnType<EmbeddingModelV4['doEmbed']>>;

/** Answers an embeddings request of OpenAI's API, in as many calls as the vendor needs. Throws UpstreamFault 400 for tokens: vendors count in their own. */
async function embedTexts(
  model: EmbeddingModelV4,
  { request, upstream, headers }: Attempt<EmbeddingsRequest>,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { dimensions, encoding_format: format } = request;
  const maxPerCall = (await model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY;
  const batches = toBatches(toTexts(request.input), Math.max(1, maxPerCall));
  const options = { headers: { ...headers }, abortSignal: signal, ...toDimensionOptions(upstream.model, dimensions) };
  const replies: Embedded[] = [];
  for (let from = 0; from < batches.length; from += maxConcurrentBatches) {
    const batchGroup = batches.slice(from, from + maxConcurrentBatches);
    replies.push(...(await Promise.all(batchGroup.map((values) => model.doEmbed({ ...options, values })))));
  }
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

/** How long each vector shall be; the models of Bedrock each have a name of their own for it. */
function toDimensionOptions(model: string, dimensions: number | undefined) {
  if (dimensions === undefined) return {};
  const name = model.includes('cohere.')
    ? 'outputDimension'
    : model.includes('amazon.nova-')
      ? 'embeddingDimension'
      : 'dimensions';
  return { dimensions, providerOptions: { [vendors.bedrock.namespace]: { [name]: dimensions } } };
}

function toTexts(input: EmbeddingsRequest['input']): string[] {
  if (typeof input === 'string') return [input];
  if (typeof input[0] === 'string') return input as string[];
  const message = 'The upstream of this model takes text, no tokens.';
  throw new UpstreamError('refused', message, { status: 400, param: 'input' });
}

function toBatches(texts: readonly string[], maxPerBatch: number): string[][] {
  const batches: string[][] = [];
  for (let from = 0; from < texts.length; from += maxPerBatch) batches.push(texts.slice(from, from + maxPerBatch));
  return batches;
}

/** Nothing if the vendor reports no counts. */
function toUsage(replies: readonly Embedded[]): JsonObject {
  const counts = replies.map(({ usage }) => usage?.tokens);
  if (!counts.every((count) => typeof count === 'number' && Number.isFinite(count))) return {};
  const tokens = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return { usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Fields that every vendor is sent, and those that Parley itself acts on. */
const commonFields: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'addons', 'custom_fields'],
  ...['tools', 'tool_choice', 'functions', 'function_call'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'seed', 'stop'],
  ...['presence_penalty', 'frequency_penalty', 'response_format', 'reasoning_effort'],
]);

/** The fields of a request that its vendor has nothing for. What single models of it do not take, its package reports. */
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
  /** What goes to the caller of what was thrown. */
  readonly convertError: (error: unknown) => unknown;
  /** Called with each part of the request that the package left out, in words and as the field of the request. */
  readonly onUnsupported: (what: string, field: string) => void;
}

/** The parts of a reply as frames. A stream that closes without an end, or has an error, is a fault. Leaving early closes it. */
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
      const chunks = reader.read(part);
      if (chunks.length > 0) yield Frame.ofChunks(...chunks);
    }
  } catch (error) {
    throw convertError(error);
  }
  if (!reader.hasEnded) throw new UpstreamError('broken', 'The upstream ended its reply before it was complete.');
}

/** The same parts. Those that have arrived are read in microtasks alone, so a flood of them would hold the event loop. */
async function* yieldTurns<Part>(parts: AsyncIterable<Part>): AsyncIterable<Part> {
  let count = 0;
  for await (const part of parts) {
    count += 1;
    if (count % maxPartsPerTurn === 0) await nextTurn();
    yield part;
  }
}

/** The fields of a request whose names are others in the packages than in camel case. */
const renamedFields: ReadonlyMap<unknown, string> = new Map([
  ['stopSequences', 'stop'],
  ['maxOutputTokens', 'max_tokens'],
  ['reasoning', 'reasoning_effort'],
]);

/** The field of the request that a warning is about. */
function toField(warning: unknown): string {
  const { feature, setting } = isJsonObject(warning) ? warning : {};
  const name = [feature, setting].find((candidate) => typeof candidate === 'string') ?? '';
  return renamedFields.get(name) ?? String(name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function formatWarning(warning: unknown): string {
  const { feature, setting, details, message } = isJsonObject(warning) ? warning : {};
  return [feature ?? setting, details ?? message].filter((part) => typeof part === 'string').join(': ');
}
