import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type StoredFileService, startFilesOnDisk } from './support.ts';

let files: StoredFileService;

beforeAll(async () => {
  files = await startFilesOnDisk();
});

afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

describe('the path of a file', () => {
  it.each([
    'plain.txt',
    'with space & plus+percent%.txt',
    'Ünïcödé/日本語/файл.txt',
    '👩‍👩‍👧/𝒳.txt',
    '\u202Egnp.exe',
    "it's (a) [test]; *?#:@!$,=~.txt",
    'back\\slash"quote',
    '...',
    '.hidden/..also',
    '__proto__',
    'constructor/__proto__/toString',
    'CON',
    'a'.repeat(255),
    `${'é'.repeat(127)}x`,
    `${'deep/'.repeat(200)}end`,
  ])('can be %s', async (name) => {
    const path = name.split('/').map(encodeURIComponent).join('/');
    const url = `files/${files.bucket}/${path}`;
    const put = await files.put(path, `content of ${name}`);
    expect(put.json).toMatchObject({ name: name.split('/').at(-1), url });
    expect((await files.get(path)).text).toBe(`content of ${name}`);
    const { json } = await files.metadata('?recursive=true&limit=1000');
    expect(json).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ url })]) });
    expect((await files.send('DELETE', path)).status).toBe(204);
  });

  it('is not normalized: composed and decomposed characters, uppercase and lowercase are different names', async () => {
    const names = ['\u00e9', 'e\u0301', 'E\u0301', 'Straße', 'STRASSE'];
    for (const name of names) await files.put(encodeURIComponent(name), name);
    for (const name of names) {
      expect((await files.get(encodeURIComponent(name))).text).toBe(name);
      expect((await files.send('DELETE', encodeURIComponent(name))).status).toBe(204);
    }
  });

  it('is decoded once, so that one file has many encodings and one reference', async () => {
    const { json } = await files.put('a%2Fb%20c', 'one');
    expect(json).toMatchObject({ name: 'b c', parentPath: 'a', url: `files/${files.bucket}/a/b%20c` });
    for (const path of ['a/b%20c', '%61/b%20c', 'a%2fb%20c']) expect((await files.get(path)).text).toBe('one');
    expect((await files.get('a%252Fb%20c')).status).toBe(404);
    await files.send('DELETE', 'a/b%20c');
  });

  it('that is encoded twice is another path', async () => {
    await files.put('a%252Fb', 'twice');
    expect((await files.metadata('a%252Fb')).json).toMatchObject({ name: 'a%2Fb', url: `files/${files.bucket}/a%252Fb` });
    expect((await files.get('a/b')).status).toBe(404);
    expect((await files.get('a%252Fb')).text).toBe('twice');
    await files.send('DELETE', 'a%252Fb');
  });

  it.each([
    ['empty', ''],
    ['a folder', 'folder/'],
    ['an empty segment', 'a//b'],
    ['a path with a leading slash', '/a'],
    ['a path with an encoded trailing slash', 'a%2F'],
    ['a parent segment', '../x'],
    ['a parent segment in the middle', 'a/../x'],
    ['an encoded parent segment', '%2e%2e/x'],
    ['an encoded parent segment with an encoded slash', '..%2fx'],
    ['a dot segment', 'a/./x'],
    ['an encoded dot segment at the end', 'a/%2e'],
    ['NUL', 'a%00'],
    ['a line break', 'a%0D%0Ab'],
    ['a control character', 'a%C2%85'],
    ['invalid UTF-8', 'a%FF'],
    ['an encoded surrogate', '%ED%A0%80'],
    ['an invalid percent-encoding', 'a%zz'],
    ['a segment of 256 bytes', 'a'.repeat(256)],
    ['a segment of 256 bytes in UTF-8', encodeURIComponent('é'.repeat(128))],
    ['a path of more than 1024 bytes', `${'deep/'.repeat(205)}end`],
    ['a path longer than any route accepts', 'a'.repeat(9000)],
  ])('cannot be %s', async (_, path) => {
    const before = files.index.all.length;
    for (const method of ['PUT', 'GET', 'DELETE', 'HEAD'])
      expect([method, (await files.send(method, path)).status]).toEqual([method, 404]);
    const { error } = await files.get(path);
    expect(error.type).toBe('not_found_error');
    expect(files.index.all).toHaveLength(before);
  });

  it('is never used as a path on disk', async () => {
    await files.put('%2Fetc%2Fpasswd', 'x');
    for (const name of await files.store.names()) expect(name).toMatch(/^[\w-]+$/);
    expect(files.index.all.map(({ path }) => path)).not.toContain('/etc/passwd');
  });

  it.each(['PUT', 'DELETE'])('is explained in the error for a %s of an invalid one', async (method) => {
    for (const path of ['a/', 'a//b', '%00']) {
      const { status, error } = await files.send(method, path);
      expect([status, error]).toMatchObject([
        404,
        { message: expect.stringMatching(/^This path is not valid for a file\. Use/) },
      ]);
    }
  });

  it.each(['__proto__', 'constructor', '%2e%2e', '..', '%00', ''])('cannot be in the bucket %s', async (bucket) => {
    const path = `/v1/files/${bucket}/x`;
    const { status } = await files.service.sendRequest({ method: 'PUT', path, headers: { 'api-key': callerKey }, body: 'x' });
    expect(status).toBe(/^[_c]/.test(bucket) ? 403 : 404);
  });
});
