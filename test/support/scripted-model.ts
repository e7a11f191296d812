import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Chunk, Delta, FinishReason } from '#contract/chat/chunk.ts';
import { Frame } from '#contract/chat/frame.ts';

export type Script = readonly (Partial<Chunk> | Error)[];

/** Creates a model that answers its nth call with the nth script and records its requests. The last script repeats. */
export function scriptedModel(...scripts: Script[]) {
  const requests: ChatRequest[] = [];
  async function* sendRequest(request: ChatRequest): AsyncGenerator<Frame> {
    requests.push(structuredClone(request));
    for (const part of scripts[Math.min(requests.length, scripts.length) - 1] ?? []) {
      if (part instanceof Error) throw part;
      yield Frame.ofChunks({ id: 'inner', object: 'chat.completion.chunk', created: 1, choices: [], ...part });
    }
  }
  return { sendRequest, requests };
}

export function messageChunk(delta: Delta, finish_reason: FinishReason | null = null): Partial<Chunk> {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

export function ends(finishReason: FinishReason): Partial<Chunk> {
  return messageChunk({}, finishReason);
}

/** Creates a reply that calls tools, given as pairs of name and arguments. */
export function calls(...toolCalls: (readonly [name: string, args: unknown])[]): Script {
  const tool_calls = toolCalls.map(([name, args], index) => ({
    index,
    id: `id_${name}_${index}`,
    type: 'function' as const,
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
  return [messageChunk({ role: 'assistant', content: null, tool_calls }), ends('tool_calls')];
}

export function answers(text: string): Script {
  return [messageChunk({ role: 'assistant', content: text }), ends('stop')];
}

export function used(prompt_tokens: number, completion_tokens: number): Partial<Chunk> {
  return { usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens } };
}
