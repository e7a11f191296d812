import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestResponse } from '#test/send-request.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';
import { calls, getMessage, getStages, getToolMessages, type Rig, says, user } from '../quick-apps/support.ts';
import { getAttachments, startWith, TestFiles } from './rig.ts';

const pages = [
  'The mill was built by monks in 1283.',
  'The weavers came in 1846 with forty looms.',
  'The flood of 1902 took the bridge.',
].map((text) => [{ text, size: 11 }]);
const searchReply = (query: string) => calls(['query_document', { query }]);

let testFiles: TestFiles;
let reference: string;

beforeEach(async () => {
  testFiles = await TestFiles.open();
  reference = await testFiles.put('history.pdf', makePdf(pages));
});

afterEach(() => testFiles[Symbol.asyncDispose]());

function getTitles(response: TestResponse): (string | undefined)[] {
  return getAttachments(response).map(({ title }) => title);
}

function startAnswering(...replies: ReturnType<typeof says>[]): Promise<Rig> {
  return startWith(testFiles, [reference], {}, { replies });
}

describe('an answer of an application with documents', () => {
  it.each<[string, string, number[]]>([
    ['a cited passage', 'They came in 1846 [2].', [2]],
    ['multiple cited passages', 'Monks [1] built it, the flood [3] took it.', [1, 3]],
    ['the passage it repeats without a citation', 'The flood of 1902 took the bridge.', [3]],
    ['the most relevant passage if it cites and repeats none', 'I see.', [1]],
    ['the most relevant passage if it cites an unknown number', 'I see [7].', [1]],
  ])('attaches %s', async (_what, text, expected) => {
    await using rig = await startAnswering(searchReply('Who built the mill?'), says(text));
    const reply = await rig.chat('Who?');
    expect(getTitles(reply)).toEqual(expected.map((page) => `history.pdf, p. ${page}`));
    expect(getAttachments(reply).map(({ index }) => index)).toEqual(expected.map((_page, index) => index));
    expect(getMessage(reply).content).toBe(text);
    expect(getStages(reply)[0]?.attachments?.map(({ title }) => title)).toEqual(
      [1, 2, 3].map((page) => `history.pdf, p. ${page}`),
    );
  });

  it('contains passages but no prompt text if the demo model answers', async () => {
    await using rig = await startWith(
      testFiles,
      [reference],
      {},
      {
        configuration: { models: { model: { upstreams: [{ protocol: 'demo' }] } } },
      },
    );
    const { content } = getMessage(
      await rig.chat('Search the documents: behind what I take from a passage, which number do I put?'),
    );
    expect(content).toContain('The mill was built by monks in 1283.');
    expect(content).not.toMatch(/After each statement|Note:/);
  });

  it('streams attachments after the text and before the finish reason', async () => {
    await using rig = await startAnswering(searchReply('mill'), says('Monks ', '[', '1', '].'));
    const stream = await rig.service.stream('app', { messages: [user('Who?')] });
    const { chunks } = await stream.readRest();
    const deltas = chunks.flatMap(({ choices }) => choices);
    const at = deltas.findIndex(({ delta }) => delta.custom_content?.attachments !== undefined);
    const lastText = deltas.findLastIndex(({ delta }) => typeof delta.content === 'string' && delta.content !== '');
    const end = deltas.findIndex(({ finish_reason }) => finish_reason === 'stop');
    expect(at).toBeGreaterThan(lastText);
    expect(end).toBeGreaterThan(at);
  });

  it('has no attachments without a search', async () => {
    await using rig = await startAnswering(says('Hello [1].'));
    expect(getAttachments(await rig.chat('Hello'))).toEqual([]);
  });

  it('cites a passage by one number in all searches', async () => {
    const other = await testFiles.put('notes.txt', 'Bring AB-12 along.');
    const replies = [
      calls(['query_document', { query: 'AB-12', files: ['notes.txt'] }]),
      calls(['query_document', { query: 'mill' }]),
      says('Bring it [1], says [3] not.'),
    ];
    await using rig = await startWith(testFiles, [reference, other], {}, { replies });
    const reply = await rig.chat('What?');
    const [first, second] = getToolMessages(rig);
    expect(first).toMatch(/^\[1\] notes\.txt\n/);
    expect(second).toMatch(/^\[2\] history\.pdf, page 1\n[\s\S]*^\[3\] history\.pdf, page 2\n[\s\S]*^\[1\] notes\.txt\n/m);
    expect(getTitles(reply)).toEqual(['notes.txt', 'history.pdf, p. 2']);
  });

  it('keeps attachments of other tools before the cited passages', async () => {
    const looksAndAsks = calls(['query_document', { query: 'mill' }], ['drawer', { query: 'Show me an attachment.' }]);
    const replies = [looksAndAsks, says('Monks [1].')];
    const configuration = { models: { drawer: { upstreams: [{ protocol: 'demo' }] } } };
    const app = { applications_as_tools: ['drawer'] };
    await using rig = await startWith(testFiles, [reference], {}, { replies, app, configuration });
    const reply = await rig.chat('Who?');
    expect(getAttachments(reply).map(({ index, title }) => [index, title])).toEqual([
      [0, 'What I saw'],
      [1, 'history.pdf, p. 1'],
    ]);
  });
});

describe('a conversation about documents', () => {
  it('continues the passage numbers and resolves numbers of earlier turns', async () => {
    const replies = [
      searchReply('mill'),
      says('Monks [1].'),
      searchReply('flood'),
      says('The flood [3], and once more [1].'),
      says('Again [2].'),
    ];
    await using rig = await startAnswering(...replies);
    const messages: object[] = [user('Who?')];
    const cited: string[][] = [];
    for (const question of ['And then?', 'And?']) {
      const reply = await rig.chat(messages);
      cited.push(getTitles(reply) as string[]);
      messages.push(getMessage(reply), user(question));
    }
    cited.push(getTitles(await rig.chat(messages)) as string[]);
    expect(cited).toEqual([['history.pdf, p. 1'], ['history.pdf, p. 1', 'history.pdf, p. 3'], ['history.pdf, p. 2']]);
  });

  it('gives new passages new numbers', async () => {
    const other = await testFiles.put('notes.txt', 'Bring AB-12 along.');
    const search = (file: string) => calls(['query_document', { query: 'what', files: [file] }]);
    const replies = [search('history.pdf'), says('So [2].'), search('notes.txt'), says('And [4].')];
    await using rig = await startWith(testFiles, [reference, other], {}, { replies });
    const first = await rig.chat([user('a')]);
    const second = await rig.chat([user('a'), getMessage(first), user('b')]);
    expect(getToolMessages(rig).at(-1)).toMatch(/^\[4\] notes\.txt/);
    expect(getTitles(second)).toEqual(['notes.txt']);
  });

  it('cites passages from before a client tool call', async () => {
    const clientTool = { name: 'where_am_i', description: 'Tells where.', parameters: [] };
    const replies = [searchReply('mill'), calls(['where_am_i', {}]), says('Monks built it [1].')];
    await using rig = await startWith(testFiles, [reference], {}, { replies, app: { client_toolset: [clientTool] } });
    const stopped = await rig.chat([user('Who?')]);
    expect(stopped.completion.choices[0]?.finish_reason).toBe('function_call');
    expect(getAttachments(stopped)).toEqual([]);
    const result = { role: 'function', name: 'where_am_i', content: 'Here.' };
    const reply = await rig.chat([user('Who?'), getMessage(stopped), result]);
    expect(getAttachments(reply)).toMatchObject([{ title: 'history.pdf, p. 1', data: 'The mill was built by monks in 1283.' }]);
  });
});
