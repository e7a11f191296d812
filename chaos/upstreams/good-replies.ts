import { encodeEventStreamMessage } from '@copilotkit/aimock';
import { delta, finish, plainCompletion, text, usage } from '#test/chunks.ts';

/** Upstream dialects, each with a different format. */
export const dialects = ['openai', 'anthropic', 'gemini', 'bedrock', 'mistral', 'dial'] as const;
export type Dialect = (typeof dialects)[number];

/** A valid reply: the events of a stream or one text. */
export interface GoodReply {
  readonly contentType: string;
  readonly pieces: readonly Buffer[];
  readonly isStream: boolean;
}

/** Text of the reply in every dialect. */
export const goodText = 'Hello from upstream';
const tokens = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

const sse = (value: unknown, name?: string): Buffer =>
  Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`);

const chunks = [
  sse(delta({ role: 'assistant', content: '' })),
  ...['Hello ', 'from ', 'upstream'].map((word) => sse(text(word))),
  sse(finish()),
  sse(usage(7, 5)),
  Buffer.from('data: [DONE]\n\n'),
];

const messageUsage = { input_tokens: 7, output_tokens: 5 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model', stop_sequence: null };
const textBlock = { type: 'text', text: '' };
const messageEvents = [
  sse({ type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: messageUsage } }, 'message_start'),
  sse({ type: 'content_block_start', index: 0, content_block: textBlock }, 'content_block_start'),
  ...['Hello ', 'from ', 'upstream'].map((word) =>
    sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } }, 'content_block_delta'),
  ),
  sse({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
  sse(
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
    'message_delta',
  ),
  sse({ type: 'message_stop' }, 'message_stop'),
];

const geminiUsage = { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 };
const candidate = (text: string, fields: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...fields }],
  usageMetadata: geminiUsage,
});

const bedrockUsage = { inputTokens: 7, outputTokens: 5, totalTokens: 12 };
const converseEvents = [
  encodeEventStreamMessage('messageStart', { role: 'assistant' }),
  ...['Hello ', 'from ', 'upstream'].map((word) =>
    encodeEventStreamMessage('contentBlockDelta', { contentBlockIndex: 0, delta: { text: word } }),
  ),
  encodeEventStreamMessage('contentBlockStop', { contentBlockIndex: 0 }),
  encodeEventStreamMessage('messageStop', { stopReason: 'end_turn' }),
  encodeEventStreamMessage('metadata', { usage: bedrockUsage, metrics: { latencyMs: 1 } }),
];

const streams: Readonly<Record<Dialect, readonly Buffer[]>> = {
  openai: chunks,
  dial: chunks,
  mistral: [...chunks.slice(0, 4), sse({ ...finish(), usage: tokens }), ...chunks.slice(-1)],
  anthropic: messageEvents,
  gemini: [sse(candidate('Hello ')), sse(candidate('from ')), sse(candidate('upstream', { finishReason: 'STOP' }))],
  bedrock: converseEvents,
};

const wholes: Readonly<Record<Dialect, object>> = {
  openai: plainCompletion(goodText),
  dial: plainCompletion(goodText),
  mistral: plainCompletion(goodText),
  anthropic: { ...message, content: [{ ...textBlock, text: goodText }], stop_reason: 'end_turn', usage: messageUsage },
  gemini: candidate(goodText, { finishReason: 'STOP' }),
  bedrock: {
    output: { message: { role: 'assistant', content: [{ text: goodText }] } },
    stopReason: 'end_turn',
    usage: bedrockUsage,
    metrics: { latencyMs: 1 },
  },
};

/** Returns the valid reply of a dialect, streamed or complete. */
export function goodReply(dialect: Dialect, isStream: boolean): GoodReply {
  if (!isStream) return { contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(wholes[dialect]))], isStream };
  const contentType = dialect === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  return { contentType, pieces: streams[dialect], isStream };
}

/** An embeddings reply in the OpenAI format. */
export const vectorsReply = {
  object: 'list',
  model: 'm',
  data: [{ object: 'embedding', index: 0, embedding: [1, 0] }],
  usage: tokens,
};

/** Creates the configuration of one upstream of a dialect at an address, and the required fields of its model. */
export function createUpstream(dialect: Dialect, url: string): { readonly model: object; readonly upstream: object } {
  switch (dialect) {
    case 'openai':
      return { model: {}, upstream: { endpoint: `${url}/v1` } };
    case 'dial':
      return { model: { protocol: 'dial', endpoint: `${url}/chat/completions` }, upstream: { endpoint: url, key: 'key' } };
    case 'anthropic':
      return { model: {}, upstream: { protocol: 'anthropic', endpoint: `${url}/v1`, key: 'key' } };
    case 'gemini':
      return { model: {}, upstream: { protocol: 'gemini', endpoint: `${url}/v1beta`, key: 'key' } };
    case 'mistral':
      return { model: {}, upstream: { protocol: 'mistral', endpoint: `${url}/v1`, key: 'key' } };
    case 'bedrock':
      return { model: {}, upstream: { protocol: 'bedrock', endpoint: url, region: 'eu-central-1', key: 'AKIAEXAMPLE:secret' } };
  }
}
