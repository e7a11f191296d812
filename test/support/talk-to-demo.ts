import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import { pushed } from '#base/stream/async-items.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Chunk, Completion } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Ask, ChatProtocol, Upstream } from '#domain/upstreams/upstream.ts';
import { createDemoProtocol } from '#upstreams/demo/demo-protocol.ts';

/** For tests: what the demo said, in pieces and as a whole. */
export interface Heard {
  readonly chunks: readonly Chunk[];
  readonly reply: Completion;
  readonly message: Completion['choices'][number]['message'];
  readonly content: string;
  /** Calls of tools, with parsed arguments. */
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

export const never = new AbortController().signal;

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

export function toAsk(said: string | readonly Message[], fields: Partial<ChatRequest> = {}): Ask {
  const messages = typeof said === 'string' ? [user(said)] : [...said];
  return { upstream, headers: {}, request: { ...fields, messages } };
}

export function startDemo(paceMs = 0) {
  const embedder = new LocalEmbedder();
  let ids = 0;
  const demo = createDemoProtocol({
    embedder,
    now: () => 1_700_000_000_999,
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
    paceMs,
  });
  const say = (said: string | readonly Message[], fields?: Partial<ChatRequest>) => hear(demo, toAsk(said, fields));
  return { demo, say, embedder };
}

export async function hear(demo: ChatProtocol, ask: Ask, signal = never): Promise<Heard> {
  const chunks: Chunk[] = [];
  const whole = new Accumulator();
  for await (const frame of pushed<RawFrame>((sink) => demo.chat(ask, sink), signal)) {
    for (const chunk of frame.chunks as readonly Chunk[]) {
      chunks.push(chunk);
      whole.add(chunk);
    }
  }
  const reply = whole.completion();
  const message = reply.choices[0]?.message ?? { role: 'assistant' };
  const given = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const calls = given.map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) }));
  return { chunks, reply, message, content: message.content ?? '', calls };
}

export function user(content: string, custom_content?: Message['custom_content']): Message {
  return { role: 'user', content, ...(custom_content && { custom_content }) };
}

/** A tool as the OpenAI API offers it. */
export function tool(name: string, description: string, properties: object = {}, required = Object.keys(properties)) {
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}
