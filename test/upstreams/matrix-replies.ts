import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply } from '#test/scripted-upstream.ts';
import { createRecordedReply } from '#test/vendor-replies.ts';
import type { DialectName } from '../../scripts/upstream-features.ts';
import { anthropicStream, createUsage, responsesReply } from './matrix-support.ts';

type Model = Exclude<DialectName, 'demo'>;

export interface ReplyProbe {
  /** A reply with the feature, for each dialect that supports it. */
  readonly replies: Partial<Record<Model, Reply>>;
  /** Whether the client receives the feature. */
  isReported(choice: JsonObject, usage: JsonObject): boolean;
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

/** A reply of the OpenAI API with the message and additional fields. */
function openaiReply(message: object, { choice = {}, usage = {} }: { choice?: object; usage?: object } = {}) {
  const counts = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, ...usage };
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi.', ...message }, finish_reason: 'stop', ...choice }];
  const reply = jsonReply(plainCompletion('Hi.', { choices, usage: counts }));
  return { openai: reply, azure: reply, application: reply };
}

const createMessage = (part: object) => ({
  ...{ type: 'message', id: 'msg_up', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text: 'Hi.', annotations: [], logprobs: [], ...part }],
});
/** A reply of an upstream with the Responses API. */
const responses = (fields: object) => ({ responses: jsonReply(responsesReply(fields)) });
const reasoningItem = {
  type: 'reasoning',
  id: 'rs_up',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'gAAAA',
};
const functionCall = (id: string) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'f', arguments: '{}' });
const gemini = (name: string) => ({ gemini: createRecordedReply('gemini', name), vertex: createRecordedReply('gemini', name) });
const thinking = {
  ...{ anthropic: anthropicStream('thinking'), bedrock: createRecordedReply('bedrock', 'thinking-tools') },
  ...{ ...gemini('thinking-tools'), mistral: createRecordedReply('mistral', 'thinking-tools') },
};
const filtered = ({ response }: Parameters<Reply>[0]): void => {
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'No.' }, finish_reason: 'content_filter' }];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices })}\n\ndata: [DONE]\n\n`);
};
const cited: Reply = createRecordedReply('bedrock', 'citations');
const referred: Reply = createRecordedReply('mistral', 'references');

const getMessage = ({ message }: JsonObject): JsonObject => (isJsonObject(message) ? message : {});
const getAttachments = (choice: JsonObject): unknown =>
  (getMessage(choice).custom_content as JsonObject | undefined)?.attachments;
const hasDetail = (usage: JsonObject, key: string, name: string): boolean => {
  const details = usage[key];
  return isJsonObject(details) && typeof details[name] === 'number' && details[name] > 0;
};

/** Replies with the feature of a table row. */
export const replyProbes: ReadonlyMap<string, ReplyProbe> = new Map<string, ReplyProbe>([
  [
    'text as a stream',
    {
      replies: {
        ...responses({}),
        ...openaiReply({}),
        ...{ anthropic: anthropicStream('text'), bedrock: createRecordedReply('bedrock', 'text') },
        ...{ ...gemini('text'), mistral: createRecordedReply('mistral', 'text') },
      },
      isReported: (choice) => typeof getMessage(choice).content === 'string' && getMessage(choice).content !== '',
    },
  ],
  [
    '`reasoning_content`',
    {
      replies: {
        ...responses({ output: [reasoningItem, createMessage({})] }),
        ...openaiReply({ reasoning_content: 'Hm.' }),
        ...thinking,
      },
      isReported: (choice) => Boolean(getMessage(choice).reasoning_content),
    },
  ],
  [
    'signatures of thoughts',
    {
      replies: {
        ...responses({ output: [reasoningItem, createMessage({})] }),
        ...openaiReply({ extra_content: { google: { thought_signature: 'c2ln' } } }),
        ...thinking,
      },
      isReported: (choice) => /"(thought_)?signature":"[^"]+"/.test(JSON.stringify(choice)),
    },
  ],
  [
    'parallel calls',
    {
      replies: {
        ...responses({ output: [functionCall('1'), functionCall('2')] }),
        ...openaiReply({ tool_calls: [call('1'), call('2')] }, { choice: { finish_reason: 'tool_calls' } }),
        ...{ ...thinking, anthropic: anthropicStream('tools-parallel') },
      },
      isReported: (choice) => ((getMessage(choice).tool_calls as unknown[] | undefined)?.length ?? 0) > 1,
    },
  ],
  [
    'cached tokens',
    {
      replies: {
        ...responses({ usage: createUsage({ input_tokens_details: { cached_tokens: 5 } }) }),
        ...openaiReply({}, { usage: { prompt_tokens_details: { cached_tokens: 5 } } }),
        ...{ ...thinking, anthropic: anthropicStream('cache-usage') },
      },
      isReported: (_choice, usage) => hasDetail(usage, 'prompt_tokens_details', 'cached_tokens'),
    },
  ],
  [
    'reasoning tokens',
    {
      replies: {
        ...responses({ usage: createUsage({ output_tokens_details: { reasoning_tokens: 5 } }) }),
        ...openaiReply({}, { usage: { completion_tokens_details: { reasoning_tokens: 5 } } }),
        ...thinking,
      },
      isReported: (_choice, usage) => hasDetail(usage, 'completion_tokens_details', 'reasoning_tokens'),
    },
  ],
  [
    '`content_filter`',
    {
      replies: {
        ...responses({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }),
        ...openaiReply({}, { choice: { finish_reason: 'content_filter' } }),
        ...{ anthropic: anthropicStream('refusal'), bedrock: createRecordedReply('bedrock', 'guardrail') },
        ...{ ...gemini('safety'), mistral: filtered },
      },
      isReported: ({ finish_reason }) => finish_reason === 'content_filter',
    },
  ],
  [
    '`refusal`',
    {
      replies: {
        ...responses({ output: [createMessage({ type: 'refusal', refusal: 'No.' })] }),
        ...openaiReply({ refusal: 'No.' }),
        anthropic: anthropicStream('refusal'),
        ...gemini('safety'),
      },
      isReported: (choice) => Boolean(getMessage(choice).refusal),
    },
  ],
  [
    'sources',
    {
      replies: {
        ...responses({
          output: [
            createMessage({
              annotations: [{ type: 'url_citation', url: 'https://example.org/a', title: 'A', start_index: 0, end_index: 2 }],
            }),
          ],
        }),
        ...openaiReply({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://example.org/a' } }] }),
        ...{ anthropic: anthropicStream('server-tools'), bedrock: cited },
        ...{ ...gemini('image-and-source'), mistral: referred },
      },
      isReported: (choice) => JSON.stringify(choice).includes('https://example.org/a'),
    },
  ],
  [
    'generated files',
    {
      replies: {
        ...openaiReply({ custom_content: { attachments: [{ index: 0, type: 'image/png', data: 'iVBORw0KGgo=' }] } }),
        ...gemini('image-and-source'),
      },
      isReported: (choice) => JSON.stringify(getAttachments(choice))?.includes('iVBORw0KGgo=') ?? false,
    },
  ],
  [
    '`logprobs` of a choice',
    {
      replies: {
        ...responses({ output: [createMessage({ logprobs: [{ token: 'Hi', logprob: -0.1, bytes: [], top_logprobs: [] }] })] }),
        ...openaiReply({}, { choice: { logprobs: { content: [{ token: 'Hi', logprob: -0.1 }] } } }),
      },
      isReported: ({ logprobs }) => isJsonObject(logprobs),
    },
  ],
]);

/** Embeddings reply of each dialect that supports embeddings. */
export const vectorReplies: Partial<Record<DialectName, Reply>> = {
  openai: jsonReply({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }),
  responses: jsonReply({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }),
  azure: jsonReply({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }),
  bedrock: jsonReply({ embedding: [1], inputTextTokenCount: 1 }),
  vertex: jsonReply({
    predictions: [{ embeddings: { values: [1], statistics: { token_count: 1 } } }],
    embedding: { values: [1] },
  }),
  gemini: jsonReply({ embedding: { values: [1] } }),
  mistral: jsonReply({ data: [{ embedding: [1] }], usage: { prompt_tokens: 1 } }),
};
