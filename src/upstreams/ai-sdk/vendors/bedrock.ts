import { HttpError } from '#base/http/client.ts';
import { filterStrings, type JsonObject } from '#base/json/json.ts';
import { computeThinkingBudget, usesAdaptiveThinking } from '../../prompt/claude-thinking.ts';
import { imageTypes, type Reasoning, type ReasoningContext, type RequestedReasoning, type Vendor } from '../vendor.ts';

/** Images, documents, and videos of the Converse API. */
// Pattern bound: joins the literals below, which have no repetition.
const converseTypes = new RegExp(
  [
    imageTypes.source,
    /^application\/(pdf|msword|vnd\.openxmlformats-officedocument\.(wordprocessingml\.document|spreadsheetml\.sheet)|vnd\.ms-excel)$/
      .source,
    /^text\/(plain|csv|html|markdown)$/.source,
    /^video\/(mp4|webm|quicktime|x-matroska|x-flv|mpeg|x-ms-wmv|3gpp)$/.source,
  ].join('|'),
);

/** The Converse API of Amazon Bedrock. */
export const bedrock: Vendor = {
  name: 'bedrock',
  namespace: 'amazonBedrock',
  fields: ['thinking', 'service_tier', 'betas', 'parallel_tool_calls'],
  acceptsFile: (mediaType) => converseTypes.test(mediaType),
  canFetch: ({ protocol }) => protocol === 's3:',
  acceptsToolFiles: true,
  acceptsFileIds: false,
  hasCachePoints: true,
  acceptsCallsWithoutTools: false,
  reasoningFormat: 'signed',
  callIdPattern: /^[a-zA-Z0-9_-]{1,64}$/,

  async open({ key, region, common }) {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    const fetch: typeof globalThis.fetch = async (...args) => alignFrames(await common.fetch(...args));
    const settings = { ...common, fetch, ...(region !== undefined && { region }) };
    if (key?.kind === 'token') return createAmazonBedrock({ ...settings, apiKey: key.token });
    if (key?.kind !== 'signing') return createAmazonBedrock(settings);
    const { accessKeyId, secretAccessKey, sessionToken } = key;
    return createAmazonBedrock({
      ...settings,
      // An empty `apiKey` keeps the package from reading one from the environment.
      ...{ apiKey: '', accessKeyId, secretAccessKey },
      ...(sessionToken !== undefined && { sessionToken }),
    });
  },

  toOptions({ service_tier: tier, betas }) {
    const isKnown = tier === 'default' || tier === 'flex' || tier === 'priority' || tier === 'reserved';
    const anthropicBeta = filterStrings(betas);
    return { ...(isKnown && { serviceTier: tier }), ...(anthropicBeta.length > 0 && { anthropicBeta }) };
  },

  toReasoning(requested, context) {
    return canReason(context) ? limitTokens(requested, context) : { options: {} };
  },
};

/**
 * Returns whether the model accepts reasoning. Claude rejects it if a tool call is required, or if an assistant message after the
 * last user message has tool calls without their reasoning.
 */
function canReason({ model, prompt, mustCall }: ReasoningContext): boolean {
  if (!isClaude(model)) return true;
  if (mustCall) return false;
  for (const { role, content } of prompt.toReversed()) {
    if (role === 'user') return true;
    if (role !== 'assistant') continue;
    const types: string[] = content.map(({ type }) => type);
    if (types.includes('tool-call') && !types.includes('reasoning')) return false;
  }
  return true;
}

/**
 * Returns the reasoning options, and `maxOutputTokens` without the thinking tokens. The package adds the thinking budget to
 * `maxOutputTokens`. It computes the budget of an effort from the model's maximum, so the sum could exceed that maximum. Efforts
 * are therefore converted to budgets here.
 */
function limitTokens({ effort, budget, isAdaptive }: RequestedReasoning, { model, maxTokens }: ReasoningContext): Reasoning {
  const reasoning = { ...(effort && { effort }), options: toReasoningConfig(budget, isAdaptive) };
  if (maxTokens === undefined || !isClaude(model)) return reasoning;
  if (budget !== undefined) return { ...reasoning, maxOutputTokens: Math.max(1, maxTokens - budget) };
  if (effort === undefined || usesAdaptiveThinking(model)) return reasoning;
  const effortBudget = computeThinkingBudget(effort, maxTokens);
  if (effortBudget === undefined) return { options: {} };
  return { options: toReasoningConfig(effortBudget, false), maxOutputTokens: maxTokens - effortBudget };
}

function toReasoningConfig(budget: number | undefined, isAdaptive: boolean): JsonObject {
  if (budget !== undefined) return { reasoningConfig: { type: 'enabled', budgetTokens: budget } };
  return isAdaptive ? { reasoningConfig: { type: 'adaptive' } } : {};
}

function isClaude(model: string): boolean {
  return /claude/i.test(model);
}

/** Length of the frame, length of the header fields, and the checksum of both. */
const preludeBytes = 12;
/** The prelude, and the checksum of the frame at its end. */
const minFrameBytes = 16;
const maxFrameBytes = 16 * 1024 * 1024;
const frameType = 'application/vnd.amazon.eventstream';

/**
 * Returns the response with complete AWS event frames in each chunk. The package joins all chunks that it has not decoded at each
 * read, which takes quadratic time for a frame that never ends. The stream fails with `HttpError` for a frame over 16 MiB or under
 * 16 bytes.
 */
export function alignFrames(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (body === null || !headers.get('content-type')?.includes(frameType)) return response;
  const frames = new FrameSplitter();
  const aligned = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const complete = frames.push(chunk);
      if (complete.length > 0) controller.enqueue(complete);
    },
    flush(controller) {
      const { bufferedBytes: incompleteFrame } = frames;
      if (incompleteFrame.length > 0) controller.enqueue(incompleteFrame);
    },
  });
  return new Response(body.pipeThrough(aligned), { headers, status, statusText });
}

/** Splits bytes at the ends of frames. Each byte is copied at most three times for any chunk size. */
class FrameSplitter {
  #waitingChunks: Uint8Array[] = [];
  #waitingBytes = 0;
  /** Number of waiting bytes before the next frame can be complete. */
  #neededBytes = preludeBytes;

  /** Returns the bytes of all complete frames. Throws `HttpError`. */
  push(chunk: Uint8Array): Uint8Array {
    this.#waitingChunks.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes < this.#neededBytes) return new Uint8Array();
    const buffered = this.bufferedBytes;
    const end = this.#findFramesEnd(buffered);
    this.#waitingChunks = end === buffered.length ? [] : [buffered.subarray(end)];
    this.#waitingBytes = buffered.length - end;
    return buffered.subarray(0, end);
  }

  /** The bytes that `push` has not returned yet. After `push`, they are an incomplete frame. */
  get bufferedBytes(): Buffer {
    return Buffer.concat(this.#waitingChunks);
  }

  #findFramesEnd(bytes: Buffer): number {
    let position = 0;
    for (;;) {
      this.#neededBytes = preludeBytes;
      if (bytes.length - position < preludeBytes) return position;
      const length = bytes.readUInt32BE(position);
      if (length < minFrameBytes || length > maxFrameBytes)
        throw new HttpError('malformed', `the event frame length of ${length} bytes is invalid`);
      this.#neededBytes = length;
      if (bytes.length - position < length) return position;
      position += length;
    }
  }
}
