import { encodeEventStreamMessage } from '@copilotkit/aimock';
import { chunk, delta, finish, plainCompletion, usage } from '#test/chunks.ts';
import type { Random } from '../random.ts';
import type { Step } from '../upstreams/fault.ts';
import { drawFraming, drawReplyField, frameEvents, toSteps } from './framing.ts';
import { spoilOnePlace, toJson } from './places.ts';
import { type DrawnText, drawText } from './texts.ts';

/** Reply formats. Applications reply in the format `dial`. */
export const forms = ['openai', 'dial', 'mistral', 'anthropic', 'responses', 'gemini', 'bedrock'] as const;
export type Form = (typeof forms)[number];

/** A valid reply in which every field of the dialect has a value. */
interface Template {
  readonly completeReply: object;
  /** Pairs of name and data. Only some dialects name their events. */
  readonly events: readonly (readonly [string | undefined, unknown])[];
  readonly error: object;
}

const attachments = [
  { index: 0, type: 'text/markdown', title: 'One', data: 'Text' },
  {
    index: 1,
    type: 'text/plain',
    title: 'Two',
    url: 'https://x.test/a',
    reference_type: 'text/html',
    reference_url: 'https://x.test/b',
  },
  { index: 2, type: 'text/plain', title: 'Three', url: 'files/bucket/a.txt' },
];
const schema = {
  $defs: { a: { type: 'string', title: 'A' } },
  type: 'object',
  title: 'Title',
  description: 'Text',
  required: ['city'],
  properties: {
    city: { type: 'string', title: 'City', description: 'Text', pattern: '^a+$', enum: ['a', 'b'], format: 'date', default: 'a' },
    list: { type: 'array', items: { anyOf: [{ type: 'string', pattern: '^a*$' }, { $ref: '#/$defs/a' }] } },
    inner: { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'string', const: 'x' } } } } },
  },
  patternProperties: { '^x-': { type: 'string' } },
};
const custom_content = {
  attachments,
  controls: [{ index: 0, label: 'Book', schema }],
  stages: [{ index: 0, name: 'Search', content: 'Text', attachments, status: 'completed' }],
  state: { a: 'b', parley_controls: [{ label: 'Book', schema }] },
};
const tool_calls = [
  { index: 0, id: 'call_0', type: 'function' as const, function: { name: 'look', arguments: '{"at":"it"}' } },
  { index: 1, id: 'call_1', type: 'function' as const, function: { name: 'see', arguments: '{"at":"it"}' } },
];
const annotations = [{ type: 'url_citation', url_citation: { url: 'https://x.test', title: 'T', start_index: 0, end_index: 3 } }];
const logprobs = {
  content: [{ token: 'Hi', logprob: -1, bytes: [1], top_logprobs: [{ token: 'Ho', logprob: -2, bytes: [2] }] }],
};
const error = { error: { message: 'Wrong', type: 'invalid_request_error', param: 'messages', code: 'bad' } };
const tokens = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

const chat: Template = {
  error,
  completeReply: plainCompletion('', {
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        logprobs,
        message: {
          ...{ role: 'assistant', content: 'Hello [1]', reasoning_content: 'Hm', refusal: 'No', tool_calls, annotations },
          custom_content,
        },
      },
    ],
    system_fingerprint: 'fp',
    service_tier: 'default',
    statistics: { usage_per_model: [{ index: 0, model: 'm', name: 'm', ...tokens }] },
  }),
  events: [
    ...[
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hello [1]' }),
      delta({ reasoning_content: 'Hm', refusal: 'No' }),
      delta({ custom_content: custom_content as never }),
      delta({ tool_calls, annotations }),
      chunk({ choices: [{ index: 0, delta: { content: 'Hi' }, logprobs, finish_reason: null }], system_fingerprint: 'fp' }),
      { ...finish(), statistics: { usage_per_model: [{ index: 0, model: 'm', name: 'm', ...tokens }] } },
      usage(7, 5),
    ].map((value) => [undefined, value] as const),
    [undefined, '[DONE]'],
  ],
};

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: 'x' };
const blocks = [
  { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
  {
    type: 'text',
    text: 'Hello',
    citations: [{ type: 'web_search_result_location', url: 'https://x.test', title: 'T', cited_text: 'C', encrypted_index: 'e' }],
  },
  { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
  { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'it' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srv_1',
    content: [{ type: 'web_search_result', url: 'https://x.test', title: 'T', encrypted_content: 'e', page_age: '1 day' }],
  },
];
const deltas = [
  [
    { type: 'thinking_delta', thinking: 'Hm' },
    { type: 'signature_delta', signature: 'c2ln' },
  ],
  [
    { type: 'text_delta', text: 'Hello' },
    { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'C', document_title: 'T', document_index: 0 } },
  ],
  [{ type: 'input_json_delta', partial_json: '{"at":"it"}' }],
  [{ type: 'input_json_delta', partial_json: '{"query":"it"}' }],
  [],
];
const toNamedEvent = <Value extends { readonly type: string }>(value: Value) => [value.type, value] as const;
const messages: Template = {
  error: { type: 'error', error: { type: 'invalid_request_error', message: 'Wrong' }, request_id: 'req_1' },
  completeReply: {
    ...message,
    content: blocks,
    stop_reason: 'end_turn',
    usage: { input_tokens: 7, output_tokens: 5, service_tier: 's' },
  },
  events: [
    toNamedEvent({
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 7, output_tokens: 1 } },
    }),
    toNamedEvent({ type: 'ping' }),
    ...blocks.flatMap((content_block, index) => [
      toNamedEvent({ type: 'content_block_start', index, content_block }),
      ...(deltas[index] ?? []).map((item) => toNamedEvent({ type: 'content_block_delta', index, delta: item })),
      toNamedEvent({ type: 'content_block_stop', index }),
    ]),
    toNamedEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: 'x' }, usage: { output_tokens: 5 } }),
    toNamedEvent({ type: 'message_stop' }),
  ],
};

const url = { type: 'url_citation', url: 'https://x.test', title: 'T', start_index: 0, end_index: 3 };
const output = [
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'e' },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [
      { type: 'output_text', text: 'Hello', annotations: [url], logprobs: [] },
      { type: 'refusal', refusal: 'No' },
    ],
  },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"at":"it"}', status: 'completed' },
  { type: 'custom_tool_call', id: 'ct_1', call_id: 'call_2', name: 'see', input: 'it' },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'it' } },
];
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output,
  usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
  metadata: { a: 'b' },
};
const responses: Template = {
  error,
  completeReply: response,
  events: [
    toNamedEvent({ type: 'response.created', response: { ...response, output: [], status: 'in_progress' } }),
    ...output.flatMap((item, output_index) => [
      toNamedEvent({ type: 'response.output_item.added', output_index, item }),
      toNamedEvent({ type: 'response.output_item.done', output_index, item }),
    ]),
    toNamedEvent({ type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', content_index: 0, delta: 'Hello' }),
    toNamedEvent({ type: 'response.output_text.annotation.added', output_index: 1, item_id: 'msg_1', annotation: url }),
    toNamedEvent({ type: 'response.refusal.delta', output_index: 1, item_id: 'msg_1', delta: 'No' }),
    toNamedEvent({ type: 'response.reasoning_summary_text.delta', output_index: 0, item_id: 'rs_1', delta: 'Hm' }),
    toNamedEvent({ type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_1', delta: '{"at":"it"}' }),
    toNamedEvent({ type: 'response.function_call_arguments.done', output_index: 2, item_id: 'fc_1', arguments: '{"at":"it"}' }),
    toNamedEvent({ type: 'response.custom_tool_call_input.delta', output_index: 3, item_id: 'ct_1', delta: 'it' }),
    toNamedEvent({ type: 'response.completed', response }),
  ],
};

const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 };
const parts = [
  { text: 'Hm', thought: true, thoughtSignature: 'c2ln' },
  { text: 'Hello' },
  { functionCall: { id: 'f1', name: 'look', args: { at: 'it' } } },
  { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } },
  { executableCode: { language: 'PYTHON', code: 'print(1)' } },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
];
const candidates = [
  {
    content: { role: 'model', parts },
    index: 0,
    finishReason: 'STOP',
    finishMessage: 'Done',
    safetyRatings: [{ category: 'C', probability: 'LOW' }],
    groundingMetadata: { webSearchQueries: ['it'], groundingChunks: [{ web: { uri: 'https://x.test', title: 'T' } }] },
  },
];
const gemini: Template = {
  error: { error: { code: 400, message: 'Wrong', status: 'INVALID_ARGUMENT', details: [{ '@type': 'x', retryDelay: '1s' }] } },
  completeReply: { candidates, usageMetadata, modelVersion: 'm', responseId: 'r' },
  events: [
    ...parts.map((part) => [undefined, { candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] }] as const),
    [undefined, { candidates, usageMetadata, modelVersion: 'm' }],
  ],
};

const converseBlocks = [
  { reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } },
  { text: 'Hello' },
  { toolUse: { toolUseId: 't1', name: 'look', input: { at: 'it' } } },
];
const bedrock: Template = {
  error: { message: 'Wrong', __type: 'ValidationException' },
  completeReply: {
    output: { message: { role: 'assistant', content: converseBlocks } },
    stopReason: 'end_turn',
    usage: { inputTokens: 7, outputTokens: 5, totalTokens: 12 },
    metrics: { latencyMs: 1 },
  },
  events: [
    ['messageStart', { role: 'assistant' }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm' } } }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'c2ln' } } }],
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Hello' } }],
    ['contentBlockStop', { contentBlockIndex: 1 }],
    ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'look' } } }],
    ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"at":"it"}' } } }],
    ['contentBlockStop', { contentBlockIndex: 2 }],
    ['messageStop', { stopReason: 'end_turn', additionalModelResponseFields: { a: 'b' } }],
    ['metadata', { usage: { inputTokens: 7, outputTokens: 5, totalTokens: 12 }, metrics: { latencyMs: 1 } }],
  ],
};

const templates: Readonly<Record<Form, Template>> = {
  openai: chat,
  dial: chat,
  mistral: chat,
  anthropic: messages,
  responses,
  gemini,
  bedrock,
};
const errorStatuses = [400, 401, 404, 408, 413, 422, 500, 503];
const limitedStatus = 429;
const repeats = [300, 300, 8_000];
/** Larger events are not repeated thousands of times. */
const maxRepeatedChars = 4_000_000;

/** Format and size of a reply. */
export interface ReplyForm {
  readonly isStream: boolean;
  readonly isLarge: boolean;
  /** Whether the reply is a 429 error. After such a reply, the service does not call that upstream for 30 s or more. */
  readonly isLimited: boolean;
}

/** A hostile reply with a description of its hostile part. */
export interface HostileReply {
  readonly title: string;
  /** Builds the reply. Building takes longer than drawing. */
  readonly steps: () => readonly Step[];
}

/**
 * Draws a reply: one hostile value or a repeated event in some framing. Some replies are errors or have a hostile header field.
 */
export function drawReply(form: Form, { isStream, isLarge, isLimited }: ReplyForm, random: Random): HostileReply {
  const hostile = drawText(random, isLarge);
  const template = templates[form];
  const fields = random.chance(0.08) ? [drawReplyField(hostile, random)] : [];
  const title = (what: string): string =>
    `${form} ${what}${fields.length > 0 ? ` ${fields[0]?.slice(0, 25)}` : ''}: ${hostile.name}`;
  if (!isStream || isLimited || random.chance(0.08)) {
    const isError = isLimited || random.chance(isStream ? 0.8 : 0.15);
    const { build, what } = spoilOnePlace(isError ? template.error : template.completeReply, hostile, random);
    const status = isError ? (isLimited ? limitedStatus : random.pick(errorStatuses)) : 200;
    return {
      title: title(`${isError ? `error ${status}` : 'whole'} ${what}`),
      steps: () => {
        const pieces = [Buffer.from(toJson(build(), random))];
        return toSteps({ contentType: 'application/json', pieces, isStream: false, status, fields });
      },
    };
  }
  const { build, what } = drawEvents(template, random, hostile);
  const framing = form === 'bedrock' ? random.pick(['frames', 'one chunk']) : drawFraming(random);
  return {
    title: title(`stream ${what}, ${framing}`),
    steps: () => {
      if (form !== 'bedrock') return toSteps({ ...toSse(build(), { framing, hostile, random }), fields });
      const pieces = build().map(([name, value]) => encodeEventStreamMessage(name ?? 'metadata', (value ?? {}) as object));
      const contentType = 'application/vnd.amazon.eventstream';
      return toSteps({ contentType, pieces: framing === 'frames' ? pieces : [Buffer.concat(pieces)], isStream, fields });
    },
  };
}

interface Framed {
  readonly framing: string;
  readonly hostile: DrawnText;
  readonly random: Random;
}

function toSse(events: Template['events'], { framing, hostile, random }: Framed) {
  const sent = events.map(([name, value]) => ({
    ...(name !== undefined && { name }),
    data: value === '[DONE]' ? value : toJson(value, random),
  }));
  return { contentType: 'text/event-stream', pieces: frameEvents(sent, framing, hostile), isStream: true };
}

/** Draws events, one of which is hostile or repeated many times. */
function drawEvents({ events }: Template, random: Random, hostile: DrawnText) {
  const at = random.below(events.length);
  const [name, value] = events[at] ?? [undefined, {}];
  const { build, what } = random.chance(0.75) ? spoilOnePlace(value, hostile, random) : { build: () => value, what: '' };
  const times = random.chance(0.12) ? hostile.limitCount(random.pick(repeats)) : 1;
  return {
    what: `event ${at} ${what}${times > 1 ? ` × ${times}` : ''}`,
    build: (): Template['events'] => {
      const spoiled = build();
      const fitting = times * JSON.stringify(spoiled).length > maxRepeatedChars ? 1 : times;
      const copies = Array.from({ length: fitting }, (_, index) => [name, renumbered(spoiled, index, times)] as const);
      return [...events.slice(0, at), ...copies, ...events.slice(at + 1)];
    },
  };
}

/**
 * Half of the repeated events have a new index. The other half have the index of the previous event, so that their pieces join.
 */
function renumbered(value: unknown, index: number, times: number): unknown {
  if (times === 1 || index % 2 === 0 || typeof value !== 'object' || value === null) return value;
  const fields = Object.keys(value).filter((key) => ['index', 'output_index', 'contentBlockIndex'].includes(key));
  return { ...value, ...Object.fromEntries(fields.map((key) => [key, index])) };
}

/** Draws a chat completion that calls all offered tools with hostile arguments. */
export function drawCalls(
  names: readonly string[],
  { isStream, isLarge }: Omit<ReplyForm, 'isLimited'>,
  random: Random,
): readonly Step[] {
  const hostile = drawText(random, isLarge);
  const text = hostile.build(random.pick([40, 3_000, 30_000]));
  const calls = names.slice(0, 3).map((name, index) => {
    const args = random.chance(0.7) ? JSON.stringify({ city: text, list: [text], [text.slice(0, 30)]: text }) : text;
    return { index, id: `call_${index}`, type: 'function' as const, function: { name, arguments: args } };
  });
  if (!isStream) {
    const choices = [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: calls } }];
    return toSteps({
      contentType: 'application/json',
      pieces: [Buffer.from(JSON.stringify(plainCompletion('', { choices })))],
      isStream,
    });
  }
  const data = [
    ...[delta({ tool_calls: calls }), finish('tool_calls'), usage(7, 5)].map((value) => JSON.stringify(value)),
    '[DONE]',
  ];
  const pieces = data.map((item) => Buffer.from(`data: ${item}\n\n`));
  return toSteps({ contentType: 'text/event-stream', pieces, isStream });
}
