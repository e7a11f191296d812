import { describe, expect, it } from 'vitest';
import { parseTable } from './attachment-body.tsx';
import { canFreezePage, getAttachmentKind, toBlobType } from './attachment-kind.ts';
import { readChart } from './chart.tsx';

describe('getAttachmentKind', () => {
  it.each([
    [{ data: 'x' }, 'markdown'],
    [{ data: 'x', type: 'image/PNG' }, 'image'],
    [{ data: 'x', type: 'image/x-icon' }, 'file'],
    [{ data: 'x', type: 'text/csv; charset=utf-8' }, 'table'],
    [{ data: 'x', type: 'application/vnd.plotly.v1+json' }, 'chart'],
    [{ data: 'x', type: 'application/ld+json' }, 'text'],
    [{ data: 'x', type: 'text/html' }, 'html'],
    [{ data: 'x', type: 'application/pdf' }, 'pdf'],
    [{ data: 'x', type: 'application/zip' }, 'file'],
    [{ url: 'files/b/a.png', type: 'image/png' }, 'image'],
    [{ url: 'files/../v1/user/keys', type: 'text/plain' }, 'link'],
    [{ url: 'files/%2e%2e/user/keys', type: 'image/png' }, 'link'],
    [{ url: 'https://example.com/a.png', type: 'image/png' }, 'link'],
    [{ url: 'javascript:x', type: 'text/html' }, 'link'],
    [{ reference_url: 'https://example.com' }, 'link'],
  ] as const)('classifies %j as %s', (attachment, kind) => {
    expect(getAttachmentKind(attachment)).toBe(kind);
  });
});

describe('parseTable', () => {
  it('parses quoted cells with commas, quotes, and line breaks', () => {
    expect(parseTable('a,b\r\n"x, ""y""\nz",2\n')).toEqual([
      ['a', 'b'],
      ['x, "y"\nz', '2'],
    ]);
  });

  it('accepts tabs, empty cells, and unclosed quotes', () => {
    expect(parseTable('a\tb\n\t2')).toEqual([
      ['a', 'b'],
      ['', '2'],
    ]);
    expect(parseTable('a,"b\nc').flat().join('|')).toContain('"b');
    expect(parseTable('')).toEqual([['']]);
  });
});

describe('readChart', () => {
  it('reads bars, lines, and dots of a Plotly figure', () => {
    const figure = {
      data: [
        { type: 'bar', name: 'N', x: ['a', 'b'], y: [1, 2] },
        { y: [3, null, 4] },
        { mode: 'markers', y: [1] },
        { type: 'pie', values: [1] },
      ],
      layout: { title: 'T' },
    };
    expect(readChart(JSON.stringify(figure))).toEqual({
      title: 'T',
      series: [
        {
          id: 0,
          name: 'N',
          kind: 'bars',
          points: [
            { x: 'a', y: 1 },
            { x: 'b', y: 2 },
          ],
        },
        {
          id: 1,
          name: '2',
          kind: 'line',
          points: [
            { x: '0', y: 3 },
            { x: '2', y: 4 },
          ],
        },
        { id: 2, name: '3', kind: 'dots', points: [{ x: '0', y: 1 }] },
      ],
    });
  });

  it.each(['', '[]', '{}', '{"data": {}}', '{"data": [{"y": "x"}, null]}', '{"data": [{"y": []}]}'])(
    'returns undefined for %s',
    (text) => {
      expect(readChart(text)).toBeUndefined();
    },
  );
});

describe('a chart with many bars or dots', () => {
  it.each([{ type: 'bar' }, { mode: 'markers' }])('has at most 6,000 of %j', (kind) => {
    const y = Array.from({ length: 2000 }, (_, index) => index);
    const chart = readChart(JSON.stringify({ data: Array.from({ length: 12 }, () => ({ ...kind, y })) }));
    expect(chart?.series.flatMap(({ points }) => points)).toHaveLength(6000);
  });
});

describe('canFreezePage', () => {
  const uses = (name: string, count: number) => `<${name} href="#a"/>`.repeat(count);
  it.each([
    uses('use', 31),
    uses('svg:use', 31),
    [...uses('use', 31)].join('\0'),
    '<g mask="url(#a)"/>'.repeat(31),
    '<g mask="u&#114;l(#a)"/>'.repeat(31),
    '<g style="mask:u\\72l(#a)"/>'.repeat(31),
    '<!ENTITY a "<use/>">',
  ])('returns true for %j', (svg) => {
    expect(canFreezePage(svg)).toBe(true);
  });

  it('returns false for a few references and for many shapes', () => {
    expect(canFreezePage(uses('use', 30) + '<rect fill="#fff"/>'.repeat(1000))).toBe(false);
  });
});

describe('an attachment with an ambiguous type', () => {
  it.each([
    'application/pdf,text/html',
    'application/pdf, text/html',
    'application/pdf;x=,text/html',
    'application/pdfx',
    'image/png,text/html',
    'image/png text/html',
    'audio/mpeg,text/html',
    'text/html,application/pdf',
  ])('is a file without a type for %s', (type) => {
    const kind = getAttachmentKind({ data: 'PGI+', type });
    expect(kind).toBe('file');
    expect(toBlobType(kind, type)).toBe('application/octet-stream');
  });
});

describe('toBlobType', () => {
  it.each([
    ['application/pdf; x=y', 'application/pdf'],
    ['Image/PNG', 'image/png'],
    ['text/html', 'application/octet-stream'],
    ['application/xhtml+xml', 'application/octet-stream'],
    ['text/xml', 'application/octet-stream'],
    ['application/zip', 'application/octet-stream'],
  ])('converts %s to %s', (type, blobType) => {
    expect(toBlobType(getAttachmentKind({ data: 'x', type }), type)).toBe(blobType);
  });
});
