import { describe, expect, it } from 'vitest';
import {
  type Conversation,
  forkConversation,
  groupBranches,
  listTurnsUpTo,
  listVisibleTurns,
  type Question,
  type Reply,
  withInterruptedReplies,
  withReply,
  withTurn,
  withVisibleTurn,
} from './conversation.ts';
import { toSummary } from './database.ts';
import { toExportJson, toExportMarkdown } from './export.ts';
import { findSummaries } from './library.ts';
import { toMessages } from './to-messages.ts';

const empty: Conversation = { id: 'c', title: '', deployment: 'demo', createdAtMs: 0, updatedAtMs: 0, turns: {}, shown: {} };
const question = (id: string, parent: string, fields: Partial<Question> = {}): Question => ({
  ...{ kind: 'question', id, parent, atMs: 1, text: `ask ${id}`, attachments: [] },
  ...fields,
});
const reply = (id: string, parent: string, fields: Partial<Reply> = {}): Reply => ({
  ...{ kind: 'reply', id, parent, atMs: 2, deployment: 'demo', state: 'done', text: `say ${id}`, custom: {}, stageTimes: {} },
  ...fields,
});
const ids = (conversation: Conversation) => listVisibleTurns(conversation).map(({ id }) => id);
const grown = [question('q1', ''), reply('r1', 'q1'), question('q2', 'r1'), reply('r2', 'q2')].reduce(withTurn, empty);

describe('Conversation', () => {
  it('lists its turns in order and uses the first question as title', () => {
    expect(ids(grown)).toEqual(['q1', 'r1', 'q2', 'r2']);
    expect(grown.title).toBe('ask q1');
    expect(withTurn(empty, question('q', '', { text: 'x '.repeat(200) })).title).toHaveLength(80);
    expect(withTurn(empty, question('q', '', { text: '', control: { label: 'Go' } })).title).toBe('Go');
  });

  it('keeps both branches of an edited question', () => {
    const again = withTurn(withTurn(grown, question('q1b', '')), reply('r1b', 'q1b'));
    expect(ids(again)).toEqual(['q1b', 'r1b']);
    expect(
      groupBranches(again)
        .get('')
        ?.map(({ id }) => id),
    ).toEqual(['q1', 'q1b']);
    expect(ids(withVisibleTurn(again, question('q1', '')))).toEqual(['q1', 'r1', 'q2', 'r2']);
  });

  it('shows a regenerated answer and sends only the turns before it', () => {
    const again = withTurn(grown, reply('r1b', 'q1'));
    expect(ids(again)).toEqual(['q1', 'r1b']);
    expect(listTurnsUpTo(again, 'q2').map(({ id }) => id)).toEqual(['q1', 'r1', 'q2']);
  });

  it('shows the last branch if the selected one is missing', () => {
    expect(ids({ ...grown, shown: { '': 'gone', q1: 'q2' } })).toEqual(['q1', 'r1', 'q2', 'r2']);
  });

  it('ignores a reply that was removed in the meantime', () => {
    expect(withReply(grown, reply('gone', 'q1'))).toBe(grown);
  });

  it('has no answer in progress after a reload', () => {
    const running = withReply(grown, reply('r2', 'q2', { state: 'running', text: 'half' }));
    expect(withInterruptedReplies(running).turns.r2).toMatchObject({ state: 'interrupted', text: 'half' });
    expect(withInterruptedReplies(grown)).toBe(grown);
  });

  it('is found by words in any order and case', () => {
    const heads = [toSummary(grown)];
    expect(findSummaries(heads, 'R2 ask')).toHaveLength(1);
    expect(findSummaries(heads, 'ask nothing')).toHaveLength(0);
    expect(findSummaries(heads, ' ')).toHaveLength(1);
  });

  it('is forked with the turns up to an answer, without the other branches and its place in the list', () => {
    const branched = { ...withTurn(grown, reply('r1b', 'q1')), pinned: true, tags: ['home'], settings: { temperature: 1 } };
    const fork = forkConversation(branched, 'r1', 'Fork');
    expect(fork).toMatchObject({
      title: 'Fork',
      deployment: branched.deployment,
      settings: { temperature: 1 },
      shown: {},
    });
    expect(Object.keys(fork.turns)).toEqual(['q1', 'r1']);
    expect([fork.id === branched.id, fork.pinned, fork.tags]).toEqual([false, undefined, undefined]);
  });

  it('is exported as JSON with all branches and as markdown with the visible branch', () => {
    const again = withTurn(grown, reply('r1b', 'q1', { custom: { attachments: [{ index: 0, title: 'Note', data: '*x*' }] } }));
    expect(Object.keys(JSON.parse(toExportJson(again)).turns)).toEqual(['q1', 'r1', 'q2', 'r2', 'r1b']);
    expect(toExportMarkdown(again, { you: 'You', getName: (id) => `${id} name` })).toBe(
      '# ask q1\n\n## You\n\nask q1\n\n## demo name\n\nsay r1b\n\n### Note\n\n*x*\n',
    );
  });
});

describe('toMessages', () => {
  it('includes attachments, the selected control, and the returned state', () => {
    const state = { kept: true };
    const turns = [
      question('q1', '', { attachments: [{ title: 'a' }, { title: 'b' }] }),
      reply('r1', 'q1', { custom: { state, stages: [{ index: 0 }], controls: [] } }),
      question('q2', 'r1', { text: '', control: { label: 'Go', value: { a: 1 } } }),
    ];
    expect(toMessages(turns)).toEqual([
      {
        role: 'user',
        content: 'ask q1',
        custom_content: {
          attachments: [
            { title: 'a', index: 0 },
            { title: 'b', index: 1 },
          ],
        },
      },
      { role: 'assistant', content: 'say r1', custom_content: { state } },
      { role: 'user', content: '', custom_content: { completed_control: { label: 'Go', value: { a: 1 } } } },
    ]);
  });

  it('includes tool calls only together with their results', () => {
    const toolCalls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }];
    const turns = [question('q1', ''), reply('r1', 'q1', { text: '', toolCalls })];
    const results = question('q2', 'r1', { text: 'found', toolResults: [{ id: 'c1', name: 'look', text: 'found' }] });
    const ask = { role: 'user', content: 'ask q1' };
    expect(toMessages([...turns, results])).toEqual([
      ask,
      { role: 'assistant', content: '', tool_calls: toolCalls },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ]);
    expect(toMessages([...turns, question('q2', 'r1')])).toEqual([ask, { role: 'user', content: 'ask q2' }]);
    const rejected = reply('r2', 'q2', { text: '', fault: { status: 400, code: 'invalid_request', message: '' } });
    expect(toMessages([...turns, results, rejected])).toEqual([ask]);
  });

  it('omits empty answers and rejected questions', () => {
    const rejected = reply('r', 'q', { text: '', state: 'failed', fault: { status: 400, code: 'invalid_request', message: '' } });
    expect(toMessages([question('q', ''), rejected, question('q2', 'r')])).toEqual([{ role: 'user', content: 'ask q2' }]);
    expect(toMessages([question('q', ''), reply('r', 'q', { text: '', state: 'failed' })])).toEqual([
      { role: 'user', content: 'ask q' },
    ]);
  });
});
