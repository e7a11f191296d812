import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { estimateTokensHigh } from '#domain/usage/vocabulary.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { summarize } from './summarize.ts';

const summaryFrame = Frame.ofChunks({
  ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { content: 'A summary.' }, finish_reason: null }],
});

/** Summarizes messages and returns the conversations of the requests. */
async function listConversations(messages: readonly Message[], maxTokens: number): Promise<string[]> {
  const conversations: string[] = [];
  const sendRequest = async function* ({ messages: [, prompt] }: ChatRequest) {
    conversations.push(String(prompt?.content).replace(/^.*The conversation:\n\n/s, ''));
    yield summaryFrame;
  };
  await summarize(messages, undefined, { sendRequest, request: { messages: [] }, maxTokens, addUsage: () => undefined });
  return conversations;
}

function createMessages(count: number): Message[] {
  return Array.from({ length: count }, (_, nth) => ({ role: 'user', content: `hello world, this is message ${nth}` }));
}

describe('summarize', () => {
  it('splits a conversation into as few requests as fit, in order', async () => {
    const conversations = await listConversations(createMessages(50), 300);
    expect(conversations.join('')).toBe(
      createMessages(50)
        .map(({ role, content }) => `${role}: ${content}\n\n`)
        .join(''),
    );
    for (const conversation of conversations) expect(estimateTokensHigh(conversation)).toBeLessThanOrEqual(300);
    for (const conversation of conversations.slice(0, -1)) expect(estimateTokensHigh(conversation)).toBeGreaterThan(250);
  });

  it('drops the middle of long messages if the conversation is too long', async () => {
    const long = { role: 'user', content: `start ${'word '.repeat(20_000)} end` } as const;
    const conversations = await listConversations([long, ...createMessages(20)], 1_000);
    expect(conversations.length).toBeLessThanOrEqual(6);
    expect(conversations[0]).toMatch(/^user: start .* \[…\] .* end\n\n/s);
  });

  it('reads many short messages in linear time', async () => {
    const messages = createMessages(20_000);
    expect(await measureEventLoopBlock(() => listConversations(messages, 200_000))).toBeLessThan(3_000);
  });
});
