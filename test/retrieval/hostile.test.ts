import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Paper } from '../../bench/retrieval/corpus/paper.ts';
import { makeDocument } from '../../bench/retrieval/make/make-document.ts';
import { makeDocxFromBody, makeZip } from '../../bench/retrieval/make/make-office.ts';
import { makePdf } from '../../bench/retrieval/make/make-pdf.ts';
import { faultOf, load } from './loading.ts';

const small: Paper = { file: 'a.docx', title: 'Title', parts: [{ heading: 'Part', paragraphs: ['Some text.'] }] };
const megabyte = 1024 ** 2;

interface RawPart {
  readonly name: string;
  readonly packed: Uint8Array;
  /** What the archive says the part comes to. */
  readonly claimed: number;
  readonly flags?: number;
  readonly method?: number;
}

/** An archive that says of itself what a test wants. With `isShared` all entries point to the bytes of the first. */
function rawZip(parts: readonly RawPart[], isShared = false): Buffer {
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

/** Unpacks to 300 MB. */
const packedBomb = deflateRawSync(Buffer.alloc(300 * megabyte, 'a'), { level: 1 });

describe('an archive', () => {
  it.each([
    ['docx', ['word/document.xml']],
    ['xlsx', ['xl/workbook.xml', 'xl/worksheets/sheet1.xml']],
    ['pptx', ['ppt/presentation.xml', 'ppt/slides/slide1.xml']],
  ])('that unpacks to more than may be read is refused, whatever size it says it has (%s)', async (format, names) => {
    const bomb = rawZip(names.map((name) => ({ name, packed: packedBomb, claimed: 100 })));
    expect(bomb.length).toBeLessThan(3 * megabyte);
    expect(await faultOf(load(bomb, `a.${format}`))).toBe('Unpacked, the document is larger than what may be read.');
  });

  it('of many parts that are each within the bound is refused for their sum', async () => {
    const packed = deflateRawSync(Buffer.alloc(2 * megabyte, 'a'));
    const names = ['word/document.xml', ...Array.from({ length: 300 }, (_, nth) => `word/part${nth}.xml`)];
    const bomb = rawZip(
      names.map((name) => ({ name, packed, claimed: 0 })),
      true,
    );
    expect(await faultOf(load(bomb, 'a.docx'))).toBe('Unpacked, the document is larger than what may be read.');
  });

  it('that is encrypted, cut off, of odd packing or no document at all is named as such', async () => {
    const packed = deflateRawSync(Buffer.from('<a/>'));
    const main = { name: 'word/document.xml', packed, claimed: 4 };
    expect(await faultOf(load(rawZip([{ ...main, flags: 1 }]), 'a.docx'))).toBe('The document is encrypted.');
    expect(await faultOf(load(rawZip([{ ...main, method: 12 }]), 'a.docx'))).toContain('packed in a way');
    expect(await faultOf(load(makeDocument(small).subarray(0, 900), 'a.docx'))).toContain('cannot be unpacked');
    expect(await faultOf(load(makeZip({ 'a.txt': 'hello' }), 'a.docx'))).toContain('neither docx nor xlsx nor pptx');
    expect(await faultOf(load(makeZip({ 'ppt/presentation.xml': '<p:presentation/>' }), 'a.pptx'))).toContain('It is empty');
  });

  it('whose directory points anywhere is refused', async () => {
    const zip = rawZip([{ name: 'word/document.xml', packed: deflateRawSync(Buffer.from('<a/>')), claimed: 4 }]);
    for (const offset of [zip.length - 6, zip.length - 22 - 46 - 17 + 42]) {
      const broken = Buffer.from(zip);
      broken.writeUInt32LE(0xfffffff0, offset);
      expect(await faultOf(load(broken, 'a.docx'))).toContain('cannot be unpacked');
    }
  });
});

describe('XML', () => {
  it('with entities that multiply does not multiply', async () => {
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
        (thrown: Error) => thrown.message,
      );
      expect(outcome.length).toBeLessThan(1000);
      expect(outcome).not.toContain('lollol');
      expect(outcome).not.toContain('root:');
    }
  });

  it('nested without end ends within the time, and is no crash', async () => {
    const word = makeDocxFromBody(`${'<w:ins>'.repeat(200_000)}${'</w:ins>'.repeat(200_000)}`);
    const bounds = { timeoutMs: 2000 };
    expect(await faultOf(load(word, 'a.docx', bounds))).toMatch(/damaged|empty|2 s/);
    expect(await faultOf(load(`<html>${'<div>'.repeat(300_000)}text`, 'a.html', bounds))).toMatch(/damaged|it was read|2 s/);
  });
});

describe('a workbook', () => {
  it('that says it is as large as can be is read as far as it has cells', async () => {
    const { unzipSync } = await import('fflate');
    const made = makeDocument({
      file: 'a.xlsx',
      title: '',
      parts: [{ heading: 'S', table: { header: ['a', 'b'], rows: [['1', '2']] } }],
    });
    const files = unzipSync(made);
    const sheet = Buffer.from(files['xl/worksheets/sheet1.xml'] ?? []).toString();
    expect(sheet).toContain('<dimension ref="A1:B2"/>');
    const huge = sheet.replace('A1:B2', 'A1:XFD1048576');
    const { passages } = await load(makeZip({ ...files, 'xl/worksheets/sheet1.xml': huge }), 'a.xlsx');
    expect(passages.map(({ text }) => text)).toEqual(['a | b\n1 | 2']);
  });
});

describe('a PDF', () => {
  it('without text is said to be scanned', async () => {
    expect(await faultOf(load(makePdf([[], []]), 'a.pdf'))).toBe(
      'It has no text: it seems to be scanned, and pictures are not read.',
    );
  });

  it('of too many pages is refused with the numbers', async () => {
    const pages = Array.from({ length: 5 }, () => [{ text: 'page', size: 11 }]);
    expect(await faultOf(load(makePdf(pages), 'a.pdf', { maxPages: 4 }))).toBe('It has 5 pages; 4 can be read.');
  });

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, 300)],
    ['of nothing but its first line', () => Buffer.from('%PDF-1.7\n')],
    [
      'with its pages turned into a circle',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(/\/Kids \[[^\]]*\]/, '/Kids [2 0 R]'), 'latin1'),
    ],
  ])('%s is a damaged file', async (_what, breakIt) => {
    const bytes = breakIt(Buffer.from(makePdf([[{ text: 'page', size: 11 }]])));
    expect(await faultOf(load(bytes, 'a.pdf'))).toMatch(/damaged|no text/);
  });

  it('that asks for a password is named as such', async () => {
    const plain = Buffer.from(makePdf([[{ text: 'page', size: 11 }]])).toString('latin1');
    const hex = 'ab'.repeat(32);
    const locked = plain.replace(
      '/Root 1 0 R',
      `/Root 1 0 R /ID [<${hex}><${hex}>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${hex}> /U <${hex}> /P -4 >>`,
    );
    expect(await faultOf(load(Buffer.from(locked, 'latin1'), 'a.pdf'))).toBe('It is protected by a password.');
  });
});

describe('what a file says of itself', () => {
  it.each(['a.txt', 'a.html', 'a', 'a.xlsx'])('in its name (%s) does not matter where its first bytes tell', async (name) => {
    expect((await load(makeDocument(small), name)).format).toBe('docx');
    expect((await load(makePdf([[{ text: 'page', size: 11 }]]), name, { contentType: 'text/html' })).format).toBe('pdf');
  });

  it('in its content type comes before its name, unless it says nothing', async () => {
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
    ['a program', Buffer.from('\x7fELF\x02\x01\x01\0\0\0')],
  ])('%s that calls itself text is refused', async (_what, bytes) => {
    expect(await faultOf(load(bytes, 'a.txt'))).toBe('It is not text, and not of a format that can be read.');
  });

  it.each(['a.doc', 'a.docx', 'a.pptx'])('old or encrypted Office documents are told how to be saved (%s)', async (name) => {
    const told = 'It is encrypted, or of the Office formats before 2007; save it as docx, xlsx or pptx.';
    expect(await faultOf(load(Buffer.from('d0cf11e0a1b11ae1', 'hex'), name))).toBe(told);
  });
});

describe('text', () => {
  it.each([
    ['UTF-8', Buffer.from('Größe: 猫')],
    ['UTF-8 with a mark', Buffer.from('\ufeffGröße: 猫')],
    ['UTF-16 little-endian', Buffer.from('\ufeffGröße: 猫', 'utf16le')],
    ['UTF-16 big-endian', Buffer.from('\ufeffGröße: 猫', 'utf16le').swap16()],
  ])('in %s is read', async (_encoding, bytes) => {
    expect((await load(bytes, 'a.txt')).passages.map(({ text }) => text)).toEqual(['Größe: 猫']);
  });

  it('that is not UTF-8 is taken for Windows-1252, or for what a page says', async () => {
    expect((await load(Buffer.from('Gr\xf6\xdfe \x80 5', 'latin1'), 'a.txt')).passages[0]?.text).toBe('Größe € 5');
    const page = Buffer.from('<meta charset="iso-8859-5"><p>\xbf\xe0\xd8', 'latin1');
    expect((await load(page, 'a.html')).passages[0]?.text).toBe('При');
  });

  it.each(['', ' \n\t\r\n', '\ufeff'])('that is empty (%j) is said to be', async (text) => {
    expect(await faultOf(load(text, 'a.txt'))).toBe('It is empty: there is no text in it.');
  });

  it.each(['txt', 'md', 'html', 'csv', 'json', 'pdf', 'docx', 'xlsx', 'pptx'])(
    'of no bytes (%s) is said to be empty',
    async (format) => {
      expect(await faultOf(load('', `a.${format}`))).toBe('It is empty: there is no text in it.');
    },
  );

  it.each(['{"a": ', 'nothing', '[', `${'['.repeat(100)}${']'.repeat(100)}`])(
    'that is no JSON (%j) is named as such',
    async (text) => {
      expect(await faultOf(load(text, 'a.json'))).toContain('It is not JSON that can be read');
    },
  );
});

describe('reading', () => {
  it('ends after its time, and the process with it', async () => {
    const text = 'word '.repeat(3_000_000);
    expect(await faultOf(load(text, 'a.txt', { timeoutMs: 300 }))).toBe('Reading it was given up: it took more than 0.3 s.');
  });

  it('ends where it takes too much memory, and the node lives on', async () => {
    const rows = JSON.stringify(Array.from({ length: 400_000 }, (_, nth) => ({ a: nth, b: `text ${nth}` })));
    expect(await faultOf(load(rows, 'a.json', { maxMemoryMb: 90 }))).toBe(
      'Reading it was given up: it needs more than 90 MiB to be read; split it into smaller files.',
    );
  });

  it('leaves out what are too many passages, and says so', async () => {
    const text = Array.from({ length: 9 }, (_, nth) => `# Part ${nth}\n\ntext ${nth}`).join('\n\n');
    const { passages, note } = await load(text, 'a.md', { maxPassages: 4 });
    expect(passages).toHaveLength(4);
    expect(note).toBe('Only the first 4 of its 9 passages were kept.');
  });

  it('ends when nobody wants it any more', async () => {
    const leaving = new AbortController();
    const loading = load('word '.repeat(3_000_000), 'a.txt', { contentType: '', signal: leaving.signal });
    setTimeout(() => leaving.abort(new Error('the node stops')), 100);
    await expect(loading).rejects.toThrow('the node stops');
  });
});
