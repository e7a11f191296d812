import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import { toAsyncIterable } from '#base/stream/async-items.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Chunk, Completion } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Attempt, ChatProtocol, Upstream } from '#domain/upstreams/upstream.ts';
import { createDemoProtocol } from '#upstreams/demo/demo-protocol.ts';

/** A reply of the demo model, as chunks and as one completion. */
export interface DemoReply {
  readonly chunks: readonly Chunk[];
  readonly reply: Completion;
  readonly message: Completion['choices'][number]['message'];
  readonly content: string;
  /** Tool calls with parsed arguments. */
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

export const neverAborted = new AbortController().signal;

const upstream: Upstream = {
  id: 'demo',
  revision: 'demo',
  protocol: 'demo',
  endpoint: undefined,
  apiVersion: undefined,
  region: undefined,
  key: undefined,
  model: 'demo',
  headers: {},
  weight: 1,
  tier: 0,
  timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
};

export function toAttempt(input: string | readonly Message[], fields: Partial<ChatRequest> = {}): Attempt {
  const messages = typeof input === 'string' ? [createUserMessage(input)] : [...input];
  return { upstream, headers: {}, request: { ...fields, messages } };
}

export function createDemo(paceMs = 0) {
  const embedder = new LocalEmbedder();
  let ids = 0;
  const demo = createDemoProtocol({
    embedder,
    epochMs: () => 1_700_000_000_999,
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
    paceMs,
  });
  const sendChat = (input: string | readonly Message[], fields?: Partial<ChatRequest>) =>
    collectReply(demo, toAttempt(input, fields));
  return { demo, sendChat, embedder };
}

export async function collectReply(demo: ChatProtocol, attempt: Attempt, signal = neverAborted): Promise<DemoReply> {
  const chunks: Chunk[] = [];
  const accumulator = new Accumulator();
  for await (const frame of toAsyncIterable<RawFrame>((sink) => demo.chat(attempt, sink), signal)) {
    for (const chunk of frame.chunks as readonly Chunk[]) {
      chunks.push(chunk);
      accumulator.add(chunk);
    }
  }
  const reply = accumulator.getCompletion();
  const message = reply.choices[0]?.message ?? { role: 'assistant' };
  const toolCalls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const calls = toolCalls.map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) }));
  return { chunks, reply, message, content: message.content ?? '', calls };
}

export function createUserMessage(content: string, custom_content?: Message['custom_content']): Message {
  return { role: 'user', content, ...(custom_content && { custom_content }) };
}

/** Creates a tool in the OpenAI format. */
export function createTool(name: string, description: string, properties: object = {}, required = Object.keys(properties)) {
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}
