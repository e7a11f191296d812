import { describe, expect, it } from 'vitest';
import { Turn } from '#agent/turn.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import { toMessagesRequest } from '#upstreams/anthropic/to-messages-request.ts';
import { fixture, translate } from './support.ts';

const question = { role: 'user' as const, content: 'Think, then call.' };
const thought = { type: 'thinking', thinking: 'The user asks\nfor "17 × 3". It is 51.', signature: 'EqQBCkYIBhgCKkAs==' };
const redacted = { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' };
const use = { type: 'tool_use', id: 'toolu_01C', name: 'get_weather', input: { city: 'Köln' } };
const result = { role: 'tool' as const, tool_call_id: 'toolu_01C', content: 'sunny' };

function sentBack(message: ChatRequest['messages'][number]) {
  const request: ChatRequest = { messages: [question, message, result], reasoning_effort: 'low' };
  return toMessagesRequest(request, { model: 'claude-haiku-4-5', maxCompletionTokens: 8000 });
}

describe('thoughts with their signature', () => {
  it('come back to the model beside the calls they led to, as Parley runs its tools', async () => {
    const { frames } = await translate([fixture('thinking-tools')]);
    const turn = new Turn();
    for (const frame of frames) for (const chunk of frame.chunks) turn.take(chunk as unknown as Chunk);
    const { messages, thinking } = sentBack(turn.toMessage());
    expect(messages[1]).toEqual({ role: 'assistant', content: [thought, redacted, use] });
    expect(thinking).toEqual({ type: 'enabled', budget_tokens: 2048 });
  });

  it('come back from a caller who returns the whole message', async () => {
    const { folded } = await translate([fixture('thinking-tools')]);
    const { message } = folded.choices[0] ?? {};
    expect(sentBack(message as ChatRequest['messages'][number]).messages[1]?.content).toEqual([thought, redacted, use]);
  });
});
