import fastCheck from 'fast-check';
import '#test/same-cases.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type StoredFileService, startFilesOnDisk } from './support.ts';

let files: StoredFileService;

beforeAll(async () => {
  files = await startFilesOnDisk({}, { files: { maxFileBytes: 1_000_000 } });
});

afterAll(async () => {
  expect(await files.store.names()).toHaveLength(files.index.all.length);
  await files[Symbol.asyncDispose]();
});

const head = 'Content-Disposition: form-data; name="file"; filename="any.txt"\r\n';

function putForm(body: string | Buffer, contentType = 'multipart/form-data; boundary=B') {
  return files.put('form.md', body, { 'content-type': contentType });
}

async function readStored(): Promise<string> {
  return (await files.get('form.md')).text;
}

/** Sends a body in pieces, whose lengths repeat this list. */
function putInPieces(content: Buffer, lengths: readonly number[]): Promise<Response> {
  let at = 0;
  let turn = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const end = at + (lengths[turn++ % lengths.length] ?? 1);
      if (at < content.length) controller.enqueue(new Uint8Array(content.subarray(at, end)));
      else controller.close();
      at = end;
    },
  });
  const headers = { 'api-key': callerKey, 'content-type': 'multipart/form-data; boundary="B b"' };
  return fetch(`${files.url}${files.base}/pieces`, { method: 'PUT', headers, body, duplex: 'half' });
}

describe('a multipart form', () => {
  it('of a standard client is stored as the part named file', async () => {
    const form = new FormData();
    form.append('file', new Blob(['first ', Buffer.from([0, 255])], { type: 'application/x-own' }), 'other name.bin');
    form.append('second', 'x'.repeat(100_000));
    const headers = { 'api-key': callerKey };
    const put = await fetch(`${files.url}${files.base}/x`, { method: 'PUT', headers, body: form });
    expect(await put.json()).toMatchObject({ name: 'x', contentType: 'application/x-own', contentLength: 8 });
    expect((await files.get('x')).text).toBe('first \0\ufffd');
  });

  it.each([
    ['a part without a type', `--B\r\n${head}\r\none\r\n--B--\r\n`, 'one', 'text/markdown'],
    ['no line break after the end', `--B\r\n${head}\r\none\r\n--B--`, 'one', 'text/markdown'],
    ['a preamble', `not meant\r\n--B\r\n${head}\r\none\r\n--B--\r\n`, 'one', 'text/markdown'],
    ['an empty part', `--B\r\n${head}\r\n\r\n--B--\r\n`, '', 'text/markdown'],
    [
      'line breaks in its content',
      `--B\r\n${head}\r\n\r\n\r\n--\r\n-B\r\n\r\n--B--\r\n`,
      '\r\n\r\n--\r\n-B\r\n',
      'text/markdown',
    ],
    [
      'header names in another case',
      `--B\r\nCONTENT-TYPE:text/css\r\ncontent-disposition:FORM-DATA;NAME=file\r\n\r\none\r\n--B--\r\n`,
      'one',
      'text/css',
    ],
    ['invalid data after the first part', `--B\r\n${head}\r\none\r\n--B\r\n nonsense`, 'one', 'text/markdown'],
  ])('can have %s', async (_, body, content, type) => {
    const { json, status } = await putForm(body);
    expect([status, json]).toMatchObject([200, { contentType: type }]);
    expect(await readStored()).toBe(content);
  });

  it('is parsed correctly for any split into pieces', async () => {
    const content = fastCheck.array(fastCheck.constantFrom('\r', '\n', '-', 'B', ' ', 'b', '\r\n--B', '\r\n--B b', 'x'), {
      maxLength: 40,
    });
    const lengths = fastCheck.array(fastCheck.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
    const isValid = (text: string): boolean => !`\r\n${text}`.includes('\r\n--B b');
    await fastCheck.assert(
      fastCheck.asyncProperty(content.map((pieces) => pieces.join('')).filter(isValid), lengths, async (text, pieceLengths) => {
        const put = await putInPieces(Buffer.from(`--B b\r\n${head}\r\n${text}\r\n--B b--\r\n`), pieceLengths);
        expect(put.status).toBe(200);
        expect((await files.get('pieces')).text).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['no boundary', 'multipart/form-data'],
    ['an empty boundary', 'multipart/form-data; boundary='],
    ['a boundary of 71 characters', `multipart/form-data; boundary=${'b'.repeat(71)}`],
    ['a boundary that ends with a space', 'multipart/form-data; boundary="b "'],
    ['a boundary with invalid characters', 'multipart/form-data; boundary="<b>"'],
  ])('is rejected with %s', async (_, type) => {
    const { status, error } = await putForm(`--B\r\n${head}\r\none\r\n--B--\r\n`, type);
    expect([status, error.code]).toEqual([400, 'invalid_request']);
  });

  it.each([
    ['no bytes', ''],
    ['no part', '--B--\r\n'],
    ['another boundary', `--C\r\n${head}\r\none\r\n--C--\r\n`],
    ['characters after the boundary', `--Bx\r\n${head}\r\none\r\n--B--\r\n`],
    ['no part headers', '--B\r\n\r\none\r\n--B--\r\n'],
    ['no Content-Disposition', '--B\r\nContent-Type: text/css\r\n\r\none\r\n--B--\r\n'],
    ['another disposition', '--B\r\nContent-Disposition: attachment\r\n\r\none\r\n--B--\r\n'],
    ['a malformed header', `--B\r\n${head}nonsense\r\n\r\none\r\n--B--\r\n`],
    ['a folded header', `--B\r\n${head} folded: x\r\n\r\none\r\n--B--\r\n`],
    ['a transfer encoding', `--B\r\n${head}Content-Transfer-Encoding: base64\r\n\r\nb25l\r\n--B--\r\n`],
    ['unterminated headers', `--B\r\n${head}`],
    ['an unterminated part', `--B\r\n${head}\r\none`],
    ['a truncated final boundary', `--B\r\n${head}\r\none\r\n--B`],
    ['text after the boundary inside the part', `--B\r\n${head}\r\none\r\n--Bx\r\n--B--\r\n`],
    ['long part headers', `--B\r\n${head}X: ${'x'.repeat(9000)}\r\n\r\none\r\n--B--\r\n`],
    ['a long preamble', `${'x'.repeat(2000)}\r\n--B\r\n${head}\r\none\r\n--B--\r\n`],
  ])('is rejected and not stored with %s', async (_, body) => {
    await putForm(`--B\r\n${head}\r\nbefore\r\n--B--`);
    const { status, error } = await putForm(body);
    expect([status, error.code, error.message]).toEqual([400, 'invalid_request', expect.stringContaining('form')]);
    expect(await readStored()).toBe('before');
  });

  describe('with several parts', () => {
    const part = (parameters: string, content: string, type = 'text/x-other'): string =>
      `--B\r\nContent-Disposition: form-data; ${parameters}\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;

    it.each([
      ['the part named file after a field', part('name="meta"', 'abc') + part('name="file"; filename="x"', 'one', 'text/css')],
      ['the part named file without a filename', part('name="meta"', 'abc') + part('name="file"', 'one', 'text/css')],
      [
        'the part named file after other parts with filenames',
        part('name="a"; filename="a"', 'x'.repeat(200_000)) +
          part('name="b"; filename="b"', 'b') +
          part('name="file"', 'one', 'text/css'),
      ],
      ['the first of two parts named file', part('name="file"', 'one', 'text/css') + part('name="file"; filename="y"', 'two')],
      [
        'the first part with a filename',
        part('name="meta"', 'abc') +
          part('name="attachment"; filename="x"', 'one', 'text/css') +
          part('name="z"; filename="z"', 'z'),
      ],
      [
        'the part whose filename has another notation',
        part('name="empty"; filename=""', '') + part("name=a; filename*=UTF-8''%e2%82%ac", 'one', 'text/css'),
      ],
      [
        'the part whose filename looks like a name',
        part('name="a"; filename="x; name=file"', 'one', 'text/css') + part('name="z"; filename="z"', 'z'),
      ],
    ])('is stored as %s', async (_, parts) => {
      const { json, status } = await putForm(`${parts}--B--\r\n`);
      expect([status, json]).toMatchObject([200, { contentType: 'text/css', contentLength: 3 }]);
      expect(await readStored()).toBe('one');
    });

    it.each([
      ['no file', part('name="meta"', 'abc') + part('name="other"', 'abc')],
      ['only an empty file field', part('name="meta"; filename=""', '')],
    ])('is rejected with %s', async (_, parts) => {
      await putForm(`--B\r\n${head}\r\nbefore\r\n--B--`);
      const { status, error } = await putForm(`${parts}--B--\r\n`);
      expect([status, error.code, error.param]).toEqual([400, 'invalid_request', 'file']);
      expect(await readStored()).toBe('before');
    });

    it('is rejected if the form is truncated after a file with another name', async () => {
      await putForm(`--B\r\n${head}\r\nbefore\r\n--B--`);
      const { status, error } = await putForm(`${part('name="a"; filename="a"', 'one')}--B\r\nContent-Dis`);
      expect([status, error.code]).toEqual([400, 'invalid_request']);
      expect(await readStored()).toBe('before');
    });

    it('releases the quota of a skipped part', async () => {
      await putForm(`${part('name="a"; filename="a"', 'x')}${part('name="file"', 'one')}--B--\r\n`);
      expect(files.index.reservations).toBe(0);
    });
  });

  it('can contain a file of the maximum size, and no larger file', async () => {
    const form = (bytes: number): Buffer => Buffer.from(`--B\r\n${head}\r\n${'x'.repeat(bytes)}\r\n--B--\r\n`);
    expect((await putForm(form(1_000_000))).status).toBe(200);
    expect((await putForm(form(1_000_001))).error.code).toBe('payload_too_large');
  });

  it('is rejected with an invalid media type', async () => {
    const { error } = await putForm(`--B\r\n${head}Content-Type: nonsense\r\n\r\none\r\n--B--`);
    expect(error.code).toBe('unsupported_media_type');
  });
});
