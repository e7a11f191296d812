import { describe, expect, it } from 'vitest';
import { type Conversation, listVisibleTurns } from '../conversation/conversation.ts';
import { toExportJson } from '../conversation/export.ts';
import { importFile } from './import-file.ts';
import { exportAll } from './transfer-dialog.tsx';

async function readFile(content: unknown) {
  const conversations: Conversation[] = [];
  const file = new Blob([typeof content === 'string' ? content : JSON.stringify(content)]);
  const report = await importFile(file, {
    store: async (conversation) => {
      conversations.push(conversation);
      return 'added';
    },
    getDeployment: (model) => `for ${model}`,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });
  return { report, conversations };
}

const own: Conversation = {
  ...{ id: 'own-1', title: 'Own', deployment: 'demo', createdAtMs: 1, updatedAtMs: 9, shown: { '': 'q' }, tags: ['home'] },
  ...{ pinned: true, archived: false, settings: { temperature: 0 } },
  turns: {
    q: { kind: 'question', id: 'q', parent: '', atMs: 2, text: 'Why?', attachments: [{ title: 'a', url: 'files/b/a' }] },
    r: {
      ...{ kind: 'reply', id: 'r', parent: 'q', atMs: 3, endedAtMs: 4, deployment: 'demo', state: 'done', text: 'So.' },
      ...{ custom: { stages: [{ index: 0, name: 'Look' }], state: { a: 1 } }, stageTimes: { 0: { startedAtMs: 3 } } },
    },
  },
};

const node = (id: string, parent: string | null, role: string, fields: object = {}) => [
  id,
  {
    ...{ id, parent, children: [] },
    message: {
      ...{ id, author: { role }, recipient: 'all', metadata: {}, create_time: 1_700_000_000.5 },
      content: { content_type: 'text', parts: [`text of ${id}`] },
      ...fields,
    },
  },
];

describe('a Parley export', () => {
  it('restores complete chats', async () => {
    const all = [own, { ...own, id: 'own-2' }];
    const { file } = await exportAll({
      ids: ['own-1', 'gone', 'own-2'],
      loadConversation: async (id) => all.find((each) => each.id === id),
      onProgress: () => undefined,
      signal: new AbortController().signal,
    });
    const { conversations, report } = await readFile(await file.text());
    expect(conversations).toEqual(all.map((each) => ({ ...each, deployment: 'for demo' })));
    expect(report).toMatchObject({ added: 2, rejected: 0, dropped: { files: 0, steps: 0 } });
    expect((await readFile(toExportJson(own))).conversations).toHaveLength(1);
  });

  it.each([
    ['an invalid ID', { ...own, id: '../x' }],
    ['a turn with another ID than its key', { ...own, turns: { x: own.turns.q } }],
    ['a turn without a text', { ...own, turns: { q: { ...own.turns.q, text: 5 } } }],
    ['an invalid attachment', { ...own, turns: { q: { ...own.turns.q, attachments: [null] } } }],
    ['invalid stages', { ...own, turns: { r: { ...own.turns.r, custom: { stages: ['x'] } } } }],
    ['invalid settings', { ...own, settings: { instructions: 5 } }],
    ['invalid ratings', { ...own, ratings: { r: { isGood: true, comment: {} } } }],
    ['invalid results of tools', { ...own, turns: { q: { ...own.turns.q, toolResults: 5 } } }],
    ['invalid tool calls', { ...own, turns: { r: { ...own.turns.r, toolCalls: [null] } } }],
    ['a time outside the valid range', { ...own, updatedAtMs: 1e300 }],
  ])('is rejected with %s', async (_name, conversation) => {
    const item = { format: 'parley-conversation', version: 1, ...conversation };
    expect((await readFile([item])).report).toMatchObject({ added: 0, rejected: 1 });
  });
});

it('truncates only files with more chats than one import accepts', async () => {
  const { report } = await readFile(`[${'1,'.repeat(49_999)}1]`);
  expect(report).toMatchObject({ rejected: 50_000, isTruncated: false });
  const { report: truncatedReport } = await readFile(`[${'1,'.repeat(50_000)}1]`);
  expect(truncatedReport).toMatchObject({ rejected: 50_000, isTruncated: true });
});

describe('a ChatGPT export', () => {
  const mapping = Object.fromEntries([
    ['root', { id: 'root', message: null, parent: null, children: ['s'] }],
    node('s', 'root', 'system'),
    node('q', 's', 'user', { metadata: { attachments: [{ name: 'a.png' }] } }),
    node('call', 'q', 'assistant', { recipient: 'browser', content: { content_type: 'code', text: 'search()' } }),
    node('tool', 'call', 'tool'),
    node('a', 'tool', 'assistant', { metadata: { model_slug: 'gpt-4o' } }),
    node('more', 'a', 'assistant', { metadata: { model_slug: 'gpt-4o' } }),
    node('q2', 'more', 'user'),
    node('q2b', 'more', 'user'),
  ]);
  const conversation = { conversation_id: 'c-1', title: 'Trip', create_time: 1_700_000_000, update_time: 1_700_000_100 };

  it('becomes a tree of turns with the last viewed branch, and reports dropped content', async () => {
    const { conversations, report } = await readFile([{ ...conversation, mapping, current_node: 'q2' }]);
    const [read] = conversations;
    if (read === undefined) throw new Error('The import has no conversation');
    expect(read).toMatchObject({ id: 'c-1', title: 'Trip', deployment: 'for gpt-4o', updatedAtMs: 1_700_000_100_000 });
    expect(Object.values(read.turns).map(({ kind, parent, text }) => [kind, parent, text])).toEqual([
      ['question', '', 'text of q'],
      ['reply', 'q', 'text of a\n\ntext of more'],
      ['question', 'a', 'text of q2'],
      ['question', 'a', 'text of q2b'],
    ]);
    expect(listVisibleTurns(read).at(-1)?.id).toBe('q2');
    expect(report).toMatchObject({ added: 1, dropped: { files: 1, steps: 2 } });
  });

  it('is rejected without messages or with only cyclic messages', async () => {
    const cycle = Object.fromEntries([node('a', 'b', 'user'), node('b', 'a', 'assistant')]);
    const { report } = await readFile([{ ...conversation, mapping: cycle }, conversation, 5, { ...conversation, mapping: {} }]);
    expect(report).toMatchObject({ added: 0, rejected: 4 });
  });
});

describe('a LibreChat export', () => {
  const message = (messageId: string, parentMessageId: string, fields: object) => ({ messageId, parentMessageId, ...fields });
  const first = '00000000-0000-0000-0000-000000000000';
  const question = message('q', first, {
    isCreatedByUser: true,
    text: 'Why?',
    createdAt: '2024-05-01T16:35:11.530Z',
    files: [{}],
  });
  const answer = message('a', 'q', {
    isCreatedByUser: false,
    model: 'gpt-4-turbo',
    text: '',
    content: [
      { type: 'think', think: 'Hm' },
      { type: 'text', text: { value: 'So.' } },
    ],
  });
  const expectedTurns = [
    ['question', '', 'Why?'],
    ['reply', 'q', 'So.'],
  ];

  it.each([
    ['a flat list', { messages: [question, answer] }],
    ['a tree', { messages: [{ ...question, children: [{ ...answer, children: [] }] }] }],
    ['an older tree', { messagesTree: [{ ...question, children: [answer] }] }],
  ])('is read if it is %s', async (_name, fields) => {
    const { conversations, report } = await readFile({ conversationId: 'c-2', title: 'Talk', ...fields });
    const [read] = conversations;
    expect(Object.values(read?.turns ?? {}).map(({ kind, parent, text }) => [kind, parent, text])).toEqual(expectedTurns);
    expect(read).toMatchObject({ id: 'c-2', title: 'Talk', deployment: 'for gpt-4-turbo', createdAtMs: 1_714_581_311_530 });
    expect(report.dropped).toEqual({ files: 1, steps: 1 });
  });

  it('is read up to the maximum depth', async () => {
    const deep = (levels: number): object =>
      levels === 0 ? { ...answer, children: [] } : { ...question, messageId: `q${levels}`, children: [deep(levels - 1)] };
    expect((await readFile({ conversationId: 'c', messages: [deep(400)] })).report.added).toBe(1);
    const tooDeep = `{"conversationId":"c","messages":${'[{"children":'.repeat(3000)}[]${'}]'.repeat(3000)}}`;
    expect((await readFile(tooDeep)).report).toMatchObject({ added: 0, rejected: 1 });
  });
});

describe('an Open WebUI export', () => {
  const message = (id: string, parentId: string | null, fields: object) => [id, { id, parentId, childrenIds: [], ...fields }];
  const call = { type: 'function_call', name: 'search_notes', arguments: '{}' };
  const messages = Object.fromEntries([
    message('q', null, { role: 'user', content: 'Where is the cat?', timestamp: 1_795_628_287, files: [{ type: 'file' }] }),
    message('a', 'q', {
      ...{ role: 'assistant', content: 'On the shelf.', done: true, model: 'demo', timestamp: 1_795_628_288 },
      output: [call, { type: 'function_call_output' }, { type: 'message', content: [] }],
    }),
    message('b', 'q', {
      ...{ role: 'assistant', model: 'older', timestamp: 1_795_628_300 },
      content: '<details type="reasoning" done="true" duration="2">\n<summary>Thought</summary>\n> Hm\n</details>\nBelow it.',
    }),
    message('failed', 'b', { role: 'assistant', content: '', error: { content: 'No' }, model: 'demo' }),
  ]);
  const item = {
    ...{ id: '67e55044-10b1-426f-9247-bb680e5fe0c8', title: 'Cat', created_at: 1_795_628_287, updated_at: 1_795_628_301 },
    ...{ pinned: true, archived: false, chat: { title: 'Cat', models: ['demo'], history: { currentId: 'a', messages } } },
  };

  it('becomes a tree of turns with the last viewed branch, and reports dropped content', async () => {
    const { conversations, report } = await readFile([item]);
    const [read] = conversations;
    expect(read).toMatchObject({ id: item.id, title: 'Cat', pinned: true, deployment: 'for older' });
    expect(read).toMatchObject({ createdAtMs: 1_795_628_287_000, updatedAtMs: 1_795_628_301_000 });
    const texts = Object.values(read?.turns ?? {}).map(({ id, parent, text }) => [id, parent, text]);
    expect(texts).toEqual([
      ['q', '', 'Where is the cat?'],
      ['a', 'q', 'On the shelf.'],
      ['b', 'q', 'Below it.'],
    ]);
    expect(read && listVisibleTurns(read).map(({ id }) => id)).toEqual(['q', 'a']);
    expect(report).toMatchObject({ added: 1, rejected: 0, dropped: { files: 1, steps: 3 } });
  });

  it('is rejected without messages', async () => {
    const empty = { ...item, chat: { history: { messages: {} } } };
    expect((await readFile([empty, { ...item, chat: [] }, { ...item, chat: { history: [] } }])).report.rejected).toBe(3);
  });
});
