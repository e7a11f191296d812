import { describe, expect, it } from 'vitest';
import type { Paper } from '../../bench/retrieval/corpus/paper.ts';
import { makeDocument } from '../../bench/retrieval/make/make-document.ts';
import { makeDocxFromBody, makeZip, toWordParagraph } from '../../bench/retrieval/make/make-office.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';
import { load } from './loading.ts';

const table = {
  header: ['Code', 'Meaning'],
  rows: [
    ['E-1', 'tank "empty"'],
    ['E-2', 'door & lid, open'],
  ],
};
const parts = [
  { heading: 'Cleaning', paragraphs: ['Rinse the sieve.', 'Dry it <well>.'] },
  { heading: 'Errors', table },
];

function paper(file: string): Paper {
  return { file, title: 'The manual', parts };
}

describe('reading a document', () => {
  it.each([
    ['docx', 1, 2],
    ['pptx', 1, 2],
    ['md', null, null],
    ['html', null, null],
  ])('returns text by heading and page, with an intact table, for %s', async (format, first, second) => {
    const { passages, ...rest } = await load(makeDocument(paper(`manual.${format}`)), `manual.${format}`);
    const [cleaning, errors] = passages;
    expect(rest).toEqual({ title: format === 'pptx' ? 'Cleaning' : 'The manual', format, note: undefined });
    expect(passages).toHaveLength(2);
    expect(cleaning).toMatchObject({ nth: 0, page: first, text: 'Rinse the sieve.\nDry it <well>.' });
    expect(cleaning?.headings.at(-1)).toBe('Cleaning');
    expect(errors).toMatchObject({ nth: 1, page: second, text: 'Code | Meaning\nE-1 | tank "empty"\nE-2 | door & lid, open' });
    expect(errors?.headings.at(-1)).toBe('Errors');
  });

  it('returns pages and detects headings by font size for PDF', async () => {
    const pages = [
      [
        { text: 'The complete', size: 20 },
        { text: 'manual', size: 20 },
        { text: 'Cleaning', size: 15 },
        { text: 'Rinse the sieve', size: 11 },
        { text: 'under the tap.', size: 11 },
        { text: '', size: 30 },
        { text: 'Dry it (well).', size: 11 },
      ],
      [{ text: 'More of it.', size: 11 }],
      [],
    ];
    const { title, passages, note } = await load(makePdf(pages), 'manual.pdf');
    expect(title).toBe('The complete manual');
    expect(note).toBe('1 of its 3 pages have no text. Pictures are not read.');
    expect(passages).toEqual([
      {
        nth: 0,
        page: 1,
        headings: ['The complete manual', 'Cleaning'],
        text: 'Rinse the sieve\nunder the tap.\nDry it (well).',
      },
      { nth: 1, page: 2, headings: ['The complete manual', 'Cleaning'], text: 'More of it.' },
    ]);
  });

  it('returns one page per sheet, without empty rows and with formatted dates, for XLSX', async () => {
    const header = ['Part', 'Since'];
    const sheets = [
      {
        heading: 'Stock',
        table: {
          header,
          rows: [
            ['AB-1', '2026-01-31'],
            ['', ''],
            ['AB-2', ''],
          ],
        },
      },
      { heading: 'Empty' },
      { heading: 'Old', table: { header, rows: [['ZZ-9', '1999-12-31']] } },
    ];
    const { passages, format } = await load(makeDocument({ file: 'a.xlsx', title: '', parts: sheets }), 'a.xlsx');
    expect(format).toBe('xlsx');
    expect(passages.map(({ page, headings, text }) => [page, headings, text])).toEqual([
      [1, ['Stock'], 'Part | Since\nAB-1 | 2026-01-31\nAB-2 |'],
      [3, ['Old'], 'Part | Since\nZZ-9 | 1999-12-31'],
    ]);
  });

  it.each([',', ';', '\t', '|'])('keeps quoted values intact for CSV with the separator %j', async (separator) => {
    const text = [
      ['Part', 'Note'],
      ['AB-1', `"one${separator} ""two""\r\nlines"`],
      ['', ''],
      ['AB-2', ''],
    ]
      .map((row) => row.join(separator))
      .join('\r\n');
    const { passages } = await load(text, 'parts.csv');
    expect(passages.map((passage) => passage.text)).toEqual([`Part | Note\nAB-1 | one${separator} "two"\r\nlines\nAB-2 |`]);
  });

  it('repeats the header in each passage for CSV', async () => {
    const rows = Array.from({ length: 200 }, (_, nth) => `AB-${nth},a part with a name of some length`);
    const { passages } = await load(['Part,Name', ...rows].join('\n'), 'parts.csv');
    expect(passages.length).toBeGreaterThan(5);
    for (const { text } of passages) expect(text).toMatch(/^Part \| Name\nAB-/);
  });

  it('returns uniform objects as tables, other values as lines, and keys as headings for JSON', async () => {
    const value = {
      name: 'edge',
      limits: {
        perMinute: 30,
        plans: [
          { plan: 'free', price: 0 },
          { plan: 'team', price: 9 },
        ],
      },
      tags: ['a', 'b'],
      people: [
        { name: 'Ann', skills: [{ of: 'go' }] },
        { name: 'Bo', likes: { tea: true } },
      ],
      __proto__name: null,
    };
    const { passages } = await load(JSON.stringify(value), 'settings.json');
    expect(passages.map(({ headings, text }) => [headings.join('/'), text])).toEqual([
      ['', 'name: edge\ntags: a, b\n__proto__name: null'],
      ['limits', 'perMinute: 30'],
      ['limits/plans', 'plan | price\nfree | 0\nteam | 9'],
      ['people/Ann', 'name: Ann'],
      ['people/Ann/skills/1', 'of: go'],
      ['people/Bo', 'name: Bo'],
      ['people/Bo/likes', 'tea: true'],
    ]);
  });

  it('detects headings, and pages at form feeds, for plain text', async () => {
    const text = 'Report\n======\n\nFirst lines\nof it.\n\n1.2 The cause\n\nIt rained.\n\fLESSONS LEARNED\n\nTake AB-12 along.\n';
    const { title, passages } = await load(text, 'report.txt');
    expect(title).toBe('Report');
    expect(passages.map(({ page, headings, text: content }) => [page, headings, content])).toEqual([
      [1, ['Report'], 'First lines\nof it.'],
      [1, ['Report', '1.2 The cause'], 'It rained.'],
      [2, ['LESSONS LEARNED'], 'Take AB-12 along.'],
    ]);
  });

  it('keeps code blocks and detects underlined headings for Markdown', async () => {
    const text =
      'Guide\n=====\nIntro.\n\n```sh\n# no heading\n| a | b |\n|---|---|\n```\n\nUsage\n---\n| a\\|b | c |\n|:--|--:|\n| 1 | 2 |\nafter';
    const { passages } = await load(text, 'guide.md');
    expect(passages.map(({ headings, text: content }) => [headings, content])).toEqual([
      [['Guide'], 'Intro.\n```sh\n# no heading\n| a | b |\n|---|---|\n```'],
      [['Guide', 'Usage'], 'a|b | c\n1 | 2'],
      [['Guide', 'Usage'], 'after'],
    ]);
  });

  it('omits invisible content and reads layout tables as text for HTML', async () => {
    const html = `<html><head><title>A &amp; B</title><style>p{}</style></head><body><script>var x = 1</script>
      <table><tr><td><h1>Top</h1><p>One<b>two</b> &lt;three&gt;</p></td></tr></table>
      <ul><li>first<li>second <i>part</i></ul><pre>a\n  b</pre><noscript>off</noscript>
      <table><thead><tr><th>x</th><th>y</th></tr></thead><tbody><tr><td>1</td><td>2<br>3</td></tr></tbody></table></body></html>`;
    const { title, passages } = await load(html, 'page.html');
    expect(title).toBe('A & B');
    expect(passages.map(({ headings, text }) => [headings, text])).toEqual([
      [['Top'], 'Onetwo <three>\n- first\n- second part\na\n  b'],
      [['Top'], 'x | y\n1 | 2 3'],
    ]);
  });

  it('counts pages by the page breaks of the last rendering for DOCX', async () => {
    const renderedBreak = '<w:r><w:lastRenderedPageBreak/><w:t>on page two</w:t></w:r>';
    const explicitBreak = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>';
    const body = `${toWordParagraph('one')}${explicitBreak}<w:p>${renderedBreak}</w:p>${toWordParagraph('still two')}`;
    const { passages } = await load(makeDocxFromBody(body), 'a.docx');
    expect(passages.map(({ page, text }) => [page, text])).toEqual([
      [1, 'one'],
      [2, 'on page two\nstill two'],
    ]);
  });

  it('follows the presentation order and includes notes for PPTX', async () => {
    const deck = makeDocument(paper('a.pptx'));
    const { unzipSync } = await import('fflate');
    const files = unzipSync(deck);
    const space = 'xmlns:p="p" xmlns:a="a"';
    const note = `<p:notes ${space}><p:sp><p:ph type="body"/><a:p><a:t>say it slowly</a:t></a:p></p:sp><p:sp><p:ph type="sldNum"/><a:p><a:t>7</a:t></a:p></p:sp></p:notes>`;
    const relations = '<Relationships><Relationship Id="rId1" Target="../notesSlides/notesSlide1.xml"/></Relationships>';
    const presentation = Buffer.from(files['ppt/presentation.xml'] ?? []).toString();
    const reordered = presentation.replace('rId1', 'rIdX').replace('rId2', 'rId1').replace('rIdX', 'rId2');
    const bytes = makeZip({
      ...files,
      'ppt/presentation.xml': reordered,
      'ppt/notesSlides/notesSlide1.xml': note,
      'ppt/slides/_rels/slide1.xml.rels': relations,
    });
    const { passages } = await load(bytes, 'a.pptx');
    expect(passages.map(({ page, headings }) => [page, headings.at(-1)])).toEqual([
      [1, 'Errors'],
      [2, 'Cleaning'],
    ]);
    expect(passages[1]?.text).toContain('Notes: say it slowly');
    expect(passages[1]?.text).not.toContain('7');
  });
});
