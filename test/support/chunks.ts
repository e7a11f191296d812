import type { Chunk, Delta, FinishReason } from '#contract/chat/chunk.ts';

/** Creates an event of a streamed reply as an upstream of the OpenAI API sends it. */
export function chunk(fields: Partial<Chunk> = {}): Chunk {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'upstream-model',
    choices: [],
    ...fields,
  };
}

export function delta(content: Delta, index = 0): Chunk {
  return chunk({ choices: [{ index, delta: content, finish_reason: null }] });
}

export function text(content: string, index = 0): Chunk {
  return delta({ content }, index);
}

export function finish(reason: FinishReason = 'stop', index = 0): Chunk {
  return chunk({ choices: [{ index, delta: {}, finish_reason: reason }] });
}

export function usage(prompt: number, completion: number): Chunk {
  return chunk({ usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } });
}

/** Creates the events of a plain reply: the role, the texts, the finish reason, and the usage. */
export function plainReply(...texts: string[]): Chunk[] {
  return [delta({ role: 'assistant', content: '' }), ...texts.map((content) => text(content)), finish(), usage(7, 5)];
}

/** Creates a plain reply as one JSON object. */
export function plainCompletion(content: string, fields: object = {}): object {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
    ...fields,
  };
}

export const hello = [{ role: 'user', content: 'Hello' }];
