import { expect, it } from 'vitest';
import type { Message } from '#contract/chat/message.ts';
import type { Conversation } from './conversation.ts';
import { rehydrate } from './run-quick-app.ts';
import type { OffloadedTexts } from './run-state.ts';

const createMessages = (...contents: string[]): Message[] =>
  contents.map((content) => ({ role: 'tool', tool_call_id: 'a', content }));

function createConversation(messages: readonly Message[], ...offloadedTexts: readonly OffloadedTexts[]): Conversation {
  const noRun = { addedMessages: [], pendingCalls: [], answeredQuestion: undefined, state: undefined };
  const noMemory = { controls: [], citations: [], context: undefined, fullResults: [] };
  return { ...noRun, ...noMemory, messages, offloadedTexts };
}

function createTexts(name: string, chars: number, all: readonly string[] | undefined) {
  const offloaded = { name, chars, reads: 0, readTexts: () => Promise.resolve(all).finally(() => (offloaded.reads += 1)) };
  return offloaded;
}

const rehydrateContents = async (conversation: Conversation) =>
  (await rehydrate(conversation)).messages.map(({ content }) => content);
const deletedTextNote = expect.stringContaining('no longer stored');

it('rehydrate replaces markers with their texts and keeps other texts', async () => {
  const messages = createMessages('one:0', 'one:1', 'one:2', 'one:x', 'two:0', ':0', 'none:0', 'one:0 or so');
  const conversation = createConversation(messages, createTexts('one', 3, ['a', 'b']), createTexts('two', 1, undefined));
  expect(await rehydrateContents(conversation)).toEqual([
    'a',
    'b',
    deletedTextNote,
    'one:x',
    deletedTextNote,
    ':0',
    'none:0',
    'one:0 or so',
  ]);
});

it('rehydrate reads texts once per name, newest first, up to the maximum', async () => {
  const [old, middle, young] = ['old', 'middle', 'young'].map((name) => createTexts(name, 15 * 1024 * 1024, [name]));
  if (!old || !middle || !young) throw new Error('three are needed');
  const messages = createMessages('old:0', 'middle:0', 'young:0');
  expect(await rehydrateContents(createConversation(messages, old, old, middle, young, young))).toEqual([
    deletedTextNote,
    'middle',
    'young',
  ]);
  expect([old.reads, middle.reads, young.reads]).toEqual([0, 1, 1]);
});

it('rehydrate drops an image that was deleted', async () => {
  const attachments = [{ index: 0, type: 'image/png', data: 'one:0' }];
  const mediaMessage: Message = {
    role: 'user',
    content: 'Shown by tools, not said by the user:\n1.',
    custom_content: { attachments },
  };
  expect(
    await rehydrateContents(createConversation([...createMessages('a'), mediaMessage], createTexts('one', 1, undefined))),
  ).toEqual(['a']);
});
