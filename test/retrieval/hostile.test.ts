import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Paper } from '../../bench/retrieval/corpus/paper.ts';
import { makeDocument } from '../../bench/retrieval/make/make-document.ts';
import { makeDocxFromBody, makeZip } from '../../bench/retrieval/make/make-office.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';
import { getReadError, load } from './loading.ts';

const small: Paper = { file: 'a.docx', title: 'Title', parts: [{ heading: 'Part', paragraphs: ['Some text.'] }] };
const megabyte = 1024 ** 2;

interface RawPart {
  readonly name: string;
  readonly packed: Uint8Array;
  /** The decompressed size that the archive declares. */
  readonly claimed: number;
  readonly flags?: number;
  readonly method?: number;
}

/** Creates an archive with arbitrary declared values. If `isShared`, all entries point to the bytes of the first. */
function createRawZip(parts: readonly RawPart[], isShared = false): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, packed, claimed, flags = 0, method = 8 } of parts) {
    const title = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(title.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(crc32(packed), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(claimed, 24);
    entry.writeUInt16LE(title.length, 28);
    entry.writeUInt32LE(isShared ? 0 : offset, 42);
    entries.push(Buffer.concat([entry, title]));
    if (isShared && locals.length > 0) continue;
    locals.push(Buffer.concat([local, title, packed]));
    offset += 30 + title.length + packed.length;
  }
  const snapshot = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(snapshot.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, snapshot, end]);
}

/** Decompresses to 300 MB. */
const packedBomb = deflateRawSync(Buffer.alloc(300 * megabyte, 'a'), { level: 1 });

describe('reading an archive', () => {
  it.each([
    ['docx', ['word/document.xml']],
    ['xlsx', ['xl/workbook.xml', 'xl/worksheets/sheet1.xml']],
    ['pptx', ['ppt/presentation.xml', 'ppt/slides/slide1.xml']],
  ])('fails if its real decompressed size exceeds the limit, regardless of the declared size (%s)', async (format, names) => {
    const bomb = createRawZip(names.map((name) => ({ name, packed: packedBomb, claimed: 100 })));
    expect(bomb.length).toBeLessThan(3 * megabyte);
    expect(await getReadError(load(bomb, `a.${format}`))).toBe('The unpacked document is too large to be read.');
  });

  it('fails if the total size of its parts exceeds the limit', async () => {
    const packed = deflateRawSync(Buffer.alloc(2 * megabyte, 'a'));
    const names = ['word/document.xml', ...Array.from({ length: 300 }, (_, nth) => `word/part${nth}.xml`)];
    const bomb = createRawZip(
      names.map((name) => ({ name, packed, claimed: 0 })),
      true,
    );
    expect(await getReadError(load(bomb, 'a.docx'))).toBe('The unpacked document is too large to be read.');
  });

  it('returns a specific error if it is encrypted, truncated, compressed differently, or not a document', async () => {
    const packed = deflateRawSync(Buffer.from('<a/>'));
    const main = { name: 'word/document.xml', packed, claimed: 4 };
    expect(await getReadError(load(createRawZip([{ ...main, flags: 1 }]), 'a.docx'))).toBe('The document is encrypted.');
    expect(await getReadError(load(createRawZip([{ ...main, method: 12 }]), 'a.docx'))).toContain('packed in a way');
    expect(await getReadError(load(makeDocument(small).subarray(0, 900), 'a.docx'))).toContain('cannot be unpacked');
    expect(await getReadError(load(makeZip({ 'a.txt': 'hello' }), 'a.docx'))).toContain('not a docx, xlsx, or pptx file');
    expect(await getReadError(load(makeZip({ 'ppt/presentation.xml': '<p:presentation/>' }), 'a.pptx'))).toContain('It is empty');
  });

  it('returns a short error if the path of a missing slide has megabytes', async () => {
    const presentation = '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldId r:id="a"/></p:presentation>';
    const relations = `<Relationships><Relationship Id="a" Target="${'slides/'.repeat(megabyte / 2)}"/></Relationships>`;
    const zip = makeZip({ 'ppt/presentation.xml': presentation, 'ppt/_rels/presentation.xml.rels': relations });
    const message = await getReadError(load(zip, 'a.pptx'));
    expect(message).toMatch(/^The file is damaged: it has no ppt\/slides/);
    expect(message.length).toBeLessThan(400);
  });

  it('fails if its central directory has invalid offsets', async () => {
    const zip = createRawZip([{ name: 'word/document.xml', packed: deflateRawSync(Buffer.from('<a/>')), claimed: 4 }]);
    for (const offset of [zip.length - 6, zip.length - 22 - 46 - 17 + 42]) {
      const broken = Buffer.from(zip);
      broken.writeUInt32LE(0xfffffff0, offset);
      expect(await getReadError(load(broken, 'a.docx'))).toContain('cannot be unpacked');
    }
  });
});

describe('reading XML', () => {
  it('does not expand entities', async () => {
    const lol = Array.from({ length: 12 }, (_, nth) => `<!ENTITY l${nth + 1} "${`&l${nth};`.repeat(10)}">`).join('');
    const docType = `<!DOCTYPE w:document [<!ENTITY l0 "lol">${lol}<!ENTITY file SYSTEM "file:///etc/passwd">]>`;
    const body = '<w:p><w:r><w:t>before &l12; &file; after</w:t></w:r></w:p>';
    const word = `<?xml version="1.0"?>${docType}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`;
    const slide = `<?xml version="1.0"?>${docType}<p:sld xmlns:p="p" xmlns:a="a"><p:sp><a:p><a:t>before &l12; &file; after</a:t></a:p></p:sp></p:sld>`;
    const { unzipSync } = await import('fflate');
    const docx = makeZip({ ...unzipSync(makeDocxFromBody('')), 'word/document.xml': word });
    const pptx = makeZip({ ...unzipSync(makeDocument({ ...small, file: 'a.pptx' })), 'ppt/slides/slide1.xml': slide });
    for (const [bytes, name] of [
      [docx, 'a.docx'],
      [pptx, 'a.pptx'],
    ] as const) {
      const outcome = await load(bytes, name).then(
        ({ passages }) => passages.map(({ text }) => text).join(),
        (error: Error) => error.message,
      );
      expect(outcome.length).toBeLessThan(1000);
      expect(outcome).not.toContain('lollol');
      expect(outcome).not.toContain('root:');
    }
  });

  it('ends within the timeout without a crash if elements are deeply nested', async () => {
    const word = makeDocxFromBody(`${'<w:ins>'.repeat(200_000)}${'</w:ins>'.repeat(200_000)}`);
    const bounds = { timeoutMs: 2000 };
    expect(await getReadError(load(word, 'a.docx', bounds))).toMatch(/damaged|empty|2 s/);
    expect(await getReadError(load(`<html>${'<div>'.repeat(300_000)}text`, 'a.html', bounds))).toMatch(/damaged|it was read|2 s/);
  });
});

describe('reading a workbook', () => {
  it('reads only existing cells if the declared range is huge', async () => {
    const { unzipSync } = await import('fflate');
    const workbook = makeDocument({
      file: 'a.xlsx',
      title: '',
      parts: [{ heading: 'S', table: { header: ['a', 'b'], rows: [['1', '2']] } }],
    });
    const files = unzipSync(workbook);
    const sheet = Buffer.from(files['xl/worksheets/sheet1.xml'] ?? []).toString();
    expect(sheet).toContain('<dimension ref="A1:B2"/>');
    const huge = sheet.replace('A1:B2', 'A1:XFD1048576');
    const { passages } = await load(makeZip({ ...files, 'xl/worksheets/sheet1.xml': huge }), 'a.xlsx');
    expect(passages.map(({ text }) => text)).toEqual(['a | b\n1 | 2']);
  });
});

describe('reading a PDF', () => {
  it('reports that it seems to be scanned if it has no text', async () => {
    expect(await getReadError(load(makePdf([[], []]), 'a.pdf'))).toBe(
      'It has no text. It seems to be scanned, and Parley does not read text in images.',
    );
  });

  it('fails with both page counts if it has too many pages', async () => {
    const pages = Array.from({ length: 5 }, () => [{ text: 'page', size: 11 }]);
    expect(await getReadError(load(makePdf(pages), 'a.pdf', { maxPages: 4 }))).toBe('It has 5 pages. The limit is 4.');
  });

  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, 300)],
    ['only a header line', () => Buffer.from('%PDF-1.7\n')],
    [
      'a cycle in its page tree',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(/\/Kids \[[^\]]*\]/, '/Kids [2 0 R]'), 'latin1'),
    ],
  ])('reports a damaged or empty file: %s', async (_what, breakIt) => {
    const bytes = breakIt(Buffer.from(makePdf([[{ text: 'page', size: 11 }]])));
    expect(await getReadError(load(bytes, 'a.pdf'))).toMatch(/damaged|no text/);
  });

  it('reports that a password is required', async () => {
    const plain = Buffer.from(makePdf([[{ text: 'page', size: 11 }]])).toString('latin1');
    const hex = 'ab'.repeat(32);
    const locked = plain.replace(
      '/Root 1 0 R',
      `/Root 1 0 R /ID [<${hex}><${hex}>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${hex}> /U <${hex}> /P -4 >>`,
    );
    expect(await getReadError(load(Buffer.from(locked, 'latin1'), 'a.pdf'))).toBe('It is protected by a password.');
  });
});

describe('detecting the format of a file', () => {
  it.each(['a.txt', 'a.html', 'a', 'a.xlsx'])('prefers the first bytes to the name (%s) and content type', async (name) => {
    expect((await load(makeDocument(small), name)).format).toBe('docx');
    expect((await load(makePdf([[{ text: 'page', size: 11 }]]), name, { contentType: 'text/html' })).format).toBe('pdf');
  });

  it('prefers the content type to the name unless it is generic or does not fit', async () => {
    const text = '# Heading\n\n<p>text</p>';
    expect((await load(text, 'a.csv', { contentType: 'text/markdown; charset=utf-8' })).format).toBe('md');
    expect((await load(text, 'a.md', { contentType: 'text/plain' })).format).toBe('md');
    expect((await load(text, 'a.md', { contentType: 'application/json' })).format).toBe('md');
    expect((await load(text, 'a.txt', { contentType: 'application/json' })).format).toBe('txt');
    expect((await load(Buffer.from('{"a":1}'), 'a', { contentType: 'application/json' })).format).toBe('json');
    expect((await load(text, 'a.unknown')).format).toBe('txt');
    expect((await load('<!DOCTYPE html><p>text', 'constructor.__proto__')).format).toBe('html');
    expect((await load('a text about %PDF-1.7 files', 'a.txt')).format).toBe('txt');
  });

  it.each([
    ['PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13])],
    ['an executable', Buffer.from('\x7fELF\x02\x01\x01\0\0\0')],
  ])('rejects %s with a text file name', async (_what, bytes) => {
    expect(await getReadError(load(bytes, 'a.txt'))).toBe('It is not text, and its format is not supported.');
  });

  it.each(['a.doc', 'a.docx', 'a.pptx'])('suggests another format for old or encrypted Office documents (%s)', async (name) => {
    const expected = 'It is encrypted or has an Office format from before 2007. Save it as docx, xlsx, or pptx.';
    expect(await getReadError(load(Buffer.from('d0cf11e0a1b11ae1', 'hex'), name))).toBe(expected);
  });
});

describe('reading text', () => {
  it.each([
    ['UTF-8', Buffer.from('Größe: 猫')],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffGröße: 猫')],
    ['UTF-16 little-endian', Buffer.from('\ufeffGröße: 猫', 'utf16le')],
    ['UTF-16 big-endian', Buffer.from('\ufeffGröße: 猫', 'utf16le').swap16()],
  ])('decodes %s', async (_encoding, bytes) => {
    expect((await load(bytes, 'a.txt')).passages.map(({ text }) => text)).toEqual(['Größe: 猫']);
  });

  it('decodes other text as Windows-1252 or in the encoding that an HTML page declares', async () => {
    expect((await load(Buffer.from('Gr\xf6\xdfe \x80 5', 'latin1'), 'a.txt')).passages[0]?.text).toBe('Größe € 5');
    const page = Buffer.from('<meta charset="iso-8859-5"><p>\xbf\xe0\xd8', 'latin1');
    expect((await load(page, 'a.html')).passages[0]?.text).toBe('При');
  });

  it.each(['', ' \n\t\r\n', '\ufeff'])('reports empty text (%j)', async (text) => {
    expect(await getReadError(load(text, 'a.txt'))).toBe('It is empty: there is no text in it.');
  });

  it.each(['txt', 'md', 'html', 'csv', 'json', 'pdf', 'docx', 'xlsx', 'pptx'])('reports an empty file (%s)', async (format) => {
    expect(await getReadError(load('', `a.${format}`))).toBe('It is empty: there is no text in it.');
  });

  it.each(['{"a": ', 'nothing', '[', `${'['.repeat(100)}${']'.repeat(100)}`])(
    'reports invalid or too deeply nested JSON (%j)',
    async (text) => {
      expect(await getReadError(load(text, 'a.json'))).toContain('It is not valid JSON');
    },
  );
});

describe('reading any document', () => {
  it('stops after the timeout', async () => {
    const text = 'word '.repeat(3_000_000);
    expect(await getReadError(load(text, 'a.txt', { timeoutMs: 300 }))).toBe(
      'Reading was stopped: it took more than 0.3 s. Split it into smaller files.',
    );
  });

  it('stops if it needs too much memory', async () => {
    const rows = JSON.stringify(Array.from({ length: 400_000 }, (_, nth) => ({ a: nth, b: `text ${nth}` })));
    expect(await getReadError(load(rows, 'a.json', { maxMemoryMb: 90 }))).toBe(
      'Reading was stopped: it needs more than 90 MiB to be read. Split it into smaller files.',
    );
  });

  it('drops passages beyond the limit and adds a note', async () => {
    const text = Array.from({ length: 9 }, (_, nth) => `# Part ${nth}\n\ntext ${nth}`).join('\n\n');
    const { passages, note } = await load(text, 'a.md', { maxPassages: 4 });
    expect(passages).toHaveLength(4);
    expect(note).toBe('Only the first 4 of its 9 passages were kept.');
  });

  it('stops when its signal aborts', async () => {
    const controller = new AbortController();
    const loading = load('word '.repeat(3_000_000), 'a.txt', { contentType: '', signal: controller.signal });
    setTimeout(() => controller.abort(new Error('the node stops')), 100);
    await expect(loading).rejects.toThrow('the node stops');
  });
});
