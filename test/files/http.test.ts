import { request as openRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type StoredFileService, startFilesOnDisk } from './support.ts';

let files: StoredFileService;
/** ETag of the file `ten`, in quotes. */
let etag: string;

beforeAll(async () => {
  files = await startFilesOnDisk();
});

beforeEach(async () => {
  etag = String((await files.put('ten', '0123456789', { 'content-type': 'text/plain' })).headers.etag);
});

afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

describe('a response with a file', () => {
  it('is a download that browsers never render in the origin of the service, for every media type', async () => {
    for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/javascript']) {
      await files.put('page', '<script>alert(1)</script>', { 'content-type': type });
      for (const headers of [{}, { range: 'bytes=0-3' }]) {
        const answer = await files.get('page', headers);
        expect(answer.headers).toMatchObject({
          'content-type': type,
          'content-disposition': expect.stringMatching(/^attachment;/),
          'x-content-type-options': 'nosniff',
          'content-security-policy': "sandbox; default-src 'none'",
        });
      }
    }
  });

  it.each([
    ['plain name.txt', 'filename="plain name.txt"; filename*=UTF-8\'\'plain%20name.txt'],
    ['ä"\\;.html', 'filename="____.html"; filename*=UTF-8\'\'%C3%A4%22%5C%3B.html'],
    ["it's(1)*.md", 'filename="it_s_1__.md"; filename*=UTF-8\'\'it%27s%281%29%2A.md'],
    ['💾', 'filename="__"; filename*=UTF-8\'\'%F0%9F%92%BE'],
  ])('contains the file name in its headers: %s', async (name, parameters) => {
    await files.put(`folder/${encodeURIComponent(name)}`, 'x');
    const { headers } = await files.get(`folder/${encodeURIComponent(name)}`);
    expect(headers['content-disposition']).toBe(`attachment; ${parameters}`);
  });

  it('is not stored by shared caches', async () => {
    expect((await files.get('ten')).headers['cache-control']).toBe('private, no-cache');
  });
});

describe('a conditional read', () => {
  it.each([
    ['if-none-match', () => etag, 304],
    ['if-none-match', () => `"other", W/${etag}`, 304],
    ['if-none-match', () => '*', 304],
    ['if-none-match', () => '"other"', 200],
    ['if-match', () => etag, 200],
    ['if-match', () => `"other",${etag}`, 200],
    ['if-match', () => '*', 200],
    ['if-match', () => '"other"', 412],
    ['if-match', () => `W/${etag}`, 412],
    ['if-match', () => '', 412],
  ])('returns the file, 304, or 412 for its condition: %s (%#)', async (name, value, status) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await files.send(method, 'ten', { [name]: value() });
      expect([method, answer.status]).toEqual([method, status]);
      if (status < 400) expect(answer.headers.etag).toBe(etag);
      if (status === 304) expect([answer.text, answer.headers['content-length']]).toEqual(['', undefined]);
    }
  });

  it('is evaluated before the range', async () => {
    expect((await files.get('ten', { range: 'bytes=99-', 'if-none-match': etag })).status).toBe(304);
    expect((await files.get('ten', { range: 'bytes=0-1', 'if-match': '"other"' })).error.code).toBe('precondition_failed');
  });
});

describe('a range', () => {
  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])('is rejected if it starts after the end of the file: %s', async (range) => {
    const { status, headers, error } = await files.get('ten', { range });
    expect([status, headers['content-range'], error.param]).toEqual([416, 'bytes */10', 'range']);
  });

  it.each(['bytes=5-2', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=1-2,4-5', 'lines=1-2', '1-2', 'bytes=0x1-2', 'bytes=1.5-3'])(
    'returns the complete file if it is invalid or has several parts: %s',
    async (range) => {
      const { status, text } = await files.get('ten', { range });
      expect([status, text]).toEqual([200, '0123456789']);
    },
  );

  it('of an empty file is rejected', async () => {
    await files.put('empty', '');
    expect((await files.get('empty', { range: 'bytes=0-' })).status).toBe(416);
    expect((await files.get('empty')).text).toBe('');
  });

  it('applies to the content that If-Range names, otherwise the complete file is returned', async () => {
    const readPart = async (ifRange: string) => (await files.get('ten', { range: 'bytes=0-1', 'if-range': ifRange })).text;
    expect(await readPart(etag)).toBe('01');
    for (const other of ['"other"', `W/${etag}`, '*', 'Wed, 21 Oct 2015 07:28:00 GMT'])
      expect(await readPart(other)).toBe('0123456789');
  });

  it('is ignored for HEAD', async () => {
    const { status, headers } = await files.send('HEAD', 'ten', { range: 'bytes=0-1' });
    expect([status, headers['content-length']]).toEqual([200, '10']);
  });
});

describe('a conditional write', () => {
  const write = (method: string, path: string, headers: Record<string, string>) =>
    files.service.sendRequest({
      method,
      path: `${files.base}/${path}`,
      headers: { 'api-key': callerKey, ...headers },
      body: method === 'PUT' ? 'new' : undefined,
    });

  it.each([
    ['if-match', () => '"other"'],
    ['if-match', () => `W/${etag}`],
    ['if-match', () => ''],
    ['if-none-match', () => '*'],
    ['if-none-match', () => etag],
    ['if-none-match', () => `"other", W/${etag}`],
  ])('is rejected if its condition does not match: %s (%#)', async (name, value) => {
    for (const method of ['PUT', 'DELETE']) {
      const { status, error } = await write(method, 'ten', { [name]: value() });
      expect([status, error.code]).toEqual([412, 'precondition_failed']);
    }
    expect((await files.get('ten')).text).toBe('0123456789');
  });

  it.each([
    ['if-match', () => etag],
    ['if-match', () => etag.replaceAll('"', '')],
    ['if-match', () => `"other", ${etag}`],
    ['if-match', () => '*'],
    ['if-none-match', () => '"other"'],
  ])('succeeds if its condition matches: %s (%#)', async (name, value) => {
    const condition = { [name]: value() };
    expect((await write('PUT', 'ten', condition)).status).toBe(200);
    const currentEtag = String((await files.get('ten')).headers.etag);
    const nextCondition = condition[name]?.includes(etag.replaceAll('"', '')) ? { [name]: currentEtag } : condition;
    expect((await write('DELETE', 'ten', nextCondition)).status).toBe(204);
  });

  it('of a missing file requires If-None-Match or no condition', async () => {
    for (const value of ['*', '"x"']) expect((await write('PUT', 'none', { 'if-match': value })).status).toBe(412);
    for (const method of ['PUT', 'DELETE'])
      expect((await write(method, 'none', { 'if-none-match': '*' })).status).toBe(method === 'PUT' ? 200 : 412);
    expect((await write('DELETE', 'none', {})).status).toBe(204);
    expect((await write('DELETE', 'none', {})).status).toBe(404);
  });

  it('is evaluated until the end of the write, so that only one concurrent writer succeeds', async () => {
    const puts = await Promise.all(Array.from({ length: 6 }, () => write('PUT', 'ten', { 'if-match': etag })));
    expect(puts.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await files.store.names()).toHaveLength(files.index.all.length);
  });
});

describe('the type of a file', () => {
  it.each([
    ['x.bin', 'image/png', 'image/png'],
    ['x', 'Text/Plain; Charset="utf-8"', 'Text/Plain; Charset="utf-8"'],
    ['x.json', 'application/json', 'application/json'],
    ['x.PDF', undefined, 'application/pdf'],
    [
      'report.docx',
      'application/x-www-form-urlencoded',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    ['folder.txt/x', undefined, 'application/octet-stream'],
    ['x.__proto__', undefined, 'application/octet-stream'],
  ])('of %s, sent as %s, is %s', async (path, requestType, storedType) => {
    const { json } = await files.put(path, '{"a":', requestType === undefined ? {} : { 'content-type': requestType });
    expect(json).toMatchObject({ contentType: storedType, contentLength: 5 });
    const { headers, text } = await files.get(path);
    expect([headers['content-type'], text]).toEqual([storedType, '{"a":']);
  });

  it.each([
    'nonsense',
    'a/b/c',
    'text/',
    `text/${'x'.repeat(300)}`,
    'text/plain; é',
    'application/pdf,text/html',
    'a/b;x=,text/html',
  ])('cannot be %s', async (type) => {
    const { status, error } = await files.put('x', 'x', { 'content-type': type });
    expect([status, error.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('excludes encodings, so that a compressed body is rejected', async () => {
    expect((await files.put('x', 'x', { 'content-encoding': 'gzip' })).error.code).toBe('unsupported_media_type');
    expect((await files.put('x', 'x', { 'content-encoding': 'identity' })).status).toBe(200);
  });
});

describe('a rejected upload', () => {
  it('receives its response during the upload, and then the connection closes', async () => {
    const writing = openRequest(`${files.url}/v1/files/other/x`, {
      method: 'PUT',
      headers: { 'api-key': callerKey },
      agent: false,
    });
    const status = new Promise<number | undefined>((resolve) =>
      writing.on('response', (response) => resolve(response.resume().statusCode)),
    );
    const closed = new Promise((resolve) => writing.on('error', resolve).on('close', resolve));
    const sending = setInterval(() => writing.write('more'), 10);
    expect(await status).toBe(403);
    await closed;
    clearInterval(sending);
  });
});

describe('the routes of files', () => {
  it('support only their documented methods', async () => {
    for (const [method, path, allow] of [
      ['POST', `${files.base}/x`, 'DELETE, GET, HEAD, PUT'],
      ['PUT', `/v1/metadata/files/${files.bucket}/x`, 'GET, HEAD'],
      ['DELETE', '/v1/bucket', 'GET, HEAD'],
    ] as const) {
      const answer = await files.service.sendRequest({ method, path, headers: { 'api-key': callerKey }, body: 'x' });
      expect([answer.status, answer.headers.allow, answer.error.code]).toEqual([405, allow, 'method_not_allowed']);
    }
  });

  it('require a key and reject requests in the documented order of checks', async () => {
    const otherPath = '/v1/files/other/x';
    const headers = { 'content-encoding': 'gzip', 'if-none-match': '*' };
    const tooLarge = { ...headers, 'content-length': String(10 ** 12) };
    const key = { 'api-key': callerKey };
    for (const [path, requestHeaders, code] of [
      [otherPath, tooLarge, 'payload_too_large'],
      [otherPath, headers, 'missing_credentials'],
      [otherPath, { ...headers, 'content-type': 'multipart/form-data' }, 'missing_credentials'],
      [otherPath, { ...headers, ...key }, 'unsupported_media_type'],
      ['/v1/files/other/', key, 'file_not_found'],
      [otherPath, key, 'access_denied'],
      [`${files.base}/ten`, { ...key, 'if-none-match': '*', 'content-type': 'multipart/form-data' }, 'precondition_failed'],
      [`${files.base}/ten`, { ...key, 'content-type': 'multipart/form-data' }, 'invalid_request'],
    ] as const)
      expect([
        path,
        (await files.service.sendRequest({ method: 'PUT', path, headers: requestHeaders, body: 'x' })).error.code,
      ]).toEqual([path, code]);
    for (const method of ['GET', 'DELETE'])
      expect((await files.service.sendRequest({ method, path: otherPath })).error.code).toBe('missing_credentials');
  });
});
