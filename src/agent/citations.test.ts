import { describe, expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { Citations, findSourcePassages } from './citations.ts';

const monks = toCitable('The mill was built by monks in 1283.');
const weavers = toCitable('The weavers came in 1846 with forty looms.');
const notes = toCitable('Bring AB-12 along.');

function toCitable(text: string, fields: { isBest?: boolean; title?: string } = {}) {
  const { isBest = false, title = 'history.pdf' } = fields;
  return { attachment: { title, data: text, reference_url: 'files/b/history.pdf' }, text, isBest };
}

/** Returns three passages with the numbers 1, 2, and 3. */
function createThreeCitations(): Citations {
  const citations = new Citations();
  for (const passage of [monks, { ...weavers, isBest: true }, notes]) citations.add(passage);
  return citations;
}

describe('Citations', () => {
  it('numbers passages in order and keeps the number of a known passage', () => {
    const citations = new Citations();
    expect([monks, weavers, monks, notes, weavers].map((passage) => citations.add(passage))).toEqual([1, 2, 1, 3, 2]);
  });

  it('distinguishes passages by their full content and title', () => {
    const long = 'The same beginning. '.repeat(30);
    const citations = new Citations();
    const all = [toCitable(`${long}a`), toCitable(`${long}b`), toCitable(`${long}a`, { title: 'other.pdf' })];
    expect(all.map((passage) => citations.add(passage))).toEqual([1, 2, 3]);
  });

  it('continues the numbering of earlier runs and recognizes their shortened passages', () => {
    const long = toCitable('A long passage. '.repeat(50));
    const before = createThreeCitations();
    before.add(long);
    const remembered = before.exportCitations(true);
    expect(remembered.at(-1)?.attachment.data).toMatch(/^A long passage\. .{180,190}…$/);
    const later = new Citations(remembered);
    expect([toCitable('new'), long, weavers].map((passage) => later.add(passage))).toEqual([5, 4, 2]);
    expect(later.collectAttachments('As was said [1][4].')[1]?.data).toBe(long.attachment.data);
    expect(later.collectAttachments('As was said [1].')).toEqual([monks.attachment]);
  });

  it('remembers the last 200 citations and does not reuse older numbers', () => {
    const before = new Citations();
    for (let index = 1; index <= 300; index += 1) before.add(toCitable(`passage ${index}`));
    const remembered = before.exportCitations(true);
    expect(remembered.map(({ number }) => number)).toEqual(Array.from({ length: 200 }, (_, index) => index + 101));
    expect(new Citations(remembered).add(toCitable('new'))).toBe(301);
  });

  it('keeps complete excerpts until the run ends', () => {
    const long = toCitable('A long passage. '.repeat(50));
    const before = new Citations();
    before.add(long);
    expect(new Citations([], before.exportCitations(false)).collectAttachments('[1]')).toEqual([long.attachment]);
  });
});

describe('Citations for a reply with marks', () => {
  it.each<[string, number[]]>([
    ['Monks did [1].', [1]],
    ['Monks[1], and notes[3].', [1, 3]],
    ['First [3], then [1], then [3] again.', [1, 3]],
    ['All of it [1, 3].', [1, 3]],
    ['All of it [1-3].', [1, 2, 3]],
    ['All of it [1–2; 3].', [1, 2, 3]],
    ['So it is 【2】 and 【3†source】.', [2, 3]],
    ['See [2](https://x.test).', [2]],
    ['As [1] and [99] say, in [2024].', [1]],
    ['`list[1]` gives [2].', [2]],
    ['```js\nlist[1]\n```\n[3]', [3]],
  ])('%s selects the cited attachments', (answer, expected) => {
    const all = [monks, weavers, notes].map(({ attachment }) => attachment);
    expect(createThreeCitations().collectAttachments(answer)).toEqual(expected.map((number) => all[number - 1]));
  });

  it.each(['[0]', '[4]', '[1e3]', '[-1]', '[1.5]', '[]', '[1 of 3]', '[9999-1]'])('ignores the mark %s', (mark) => {
    expect(createThreeCitations().collectAttachments(`Forty looms came with weavers in 1846 ${mark}.`)).toEqual([
      weavers.attachment,
    ]);
  });

  it('bounds the time for unclosed marks', async () => {
    const marks = '[1,'.repeat(200_000) + '`'.repeat(100_001) + '【1'.repeat(100_000);
    expect(await measureEventLoopBlock(() => createThreeCitations().collectAttachments(marks))).toBeLessThan(5000);
  });
});

describe('Citations for a reply without marks', () => {
  it('selects the passages that share its wording', () => {
    expect(createThreeCitations().collectAttachments('Bring AB-12 along. Monks built the mill in 1283.')).toEqual([
      monks.attachment,
      notes.attachment,
    ]);
  });

  it('compares the reply with the complete text that the model read', () => {
    const citations = createThreeCitations();
    citations.add({ ...toCitable('quoted'), text: 'quoted\nThe neighbour tells of seven purple elephants.' });
    expect(citations.collectAttachments('Seven purple elephants.').map(({ data }) => data)).toEqual(['quoted']);
  });

  it('falls back to the last passage marked as best', () => {
    const citations = createThreeCitations();
    expect(citations.collectAttachments('Done.')).toEqual([weavers.attachment]);
    citations.add({ ...monks, isBest: true });
    expect(citations.collectAttachments('Done.')).toEqual([monks.attachment]);
  });

  it('selects no attachment if no passage is marked as best, the reply is empty, or all passages are from earlier runs', () => {
    const citations = new Citations();
    citations.add(monks);
    expect(citations.collectAttachments('Done.')).toEqual([]);
    expect(createThreeCitations().collectAttachments(' \n')).toEqual([]);
    expect(
      new Citations(createThreeCitations().exportCitations(true)).collectAttachments(
        'The weavers came in 1846 with forty looms.',
      ),
    ).toEqual([]);
  });
});

describe('findSourcePassages', () => {
  const passages = [
    'The mill was built by monks in 1283 at the river.',
    'The weavers came in 1846 with forty looms from the north.',
    'A hotel room may cost up to 140 euros a night; the code is AB-12/x.',
    '咖啡机的过滤器每周清洗一次。',
  ];

  it.each<[string, string, number[]]>([
    ['a quotation', '> The mill was built by monks in 1283 at the river.', [0]],
    ['a paraphrase', 'Monks built that mill in 1283.', [0]],
    ['sentences from two passages', 'Monks built the mill in 1283. In 1846 weavers came with forty looms.', [0, 1]],
    ['one line per source', '- 140 euros\n- forty looms of 1846', [1, 2]],
    ['a number with its unit', '140 euros', [2]],
    ['an identifier', 'Your code: AB-12/x.', [2]],
    ['a script without spaces', '过滤器每周清洗一次', [3]],
    ['a single shared word', 'Hotels are nice.', []],
    ['a single shared number', 'In 1283 something else happened elsewhere, far away from everything.', []],
    ['a sentence that is too short', 'Done.', []],
    ['a refusal', 'The documents do not tell anything about giraffes.', []],
    ['an empty answer', '', []],
  ])('matches %s', (_description, answer, expected) => {
    expect([...findSourcePassages(answer, passages)].sort()).toEqual(expected);
  });

  it('assigns a sentence to the passage that shares most of its words', () => {
    const near = 'The mill was sold by monks in 1283.';
    expect([...findSourcePassages('The mill was built by monks in 1283.', [near, ...passages])]).toEqual([1]);
  });

  it('reads a bounded part of a long answer', async () => {
    const answer = 'word after word without an end '.repeat(300_000);
    const texts = Array.from({ length: 50 }, () => passages.join(' '));
    expect(await measureEventLoopBlock(() => findSourcePassages(answer, texts))).toBeLessThan(5000);
  });
});
