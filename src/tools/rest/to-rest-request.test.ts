import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import type { RestArgument, RestLocation, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { ToolError } from '#domain/tools/tool.ts';
import { type Credentials, noCredentials } from '../authorization/authorizer.ts';
import { toRestRequest } from './to-rest-request.ts';

const at = (location: RestLocation, name: string, key = name): RestArgument => ({ name, location, key });

function request(definition: Partial<RestToolDefinition>, args: JsonObject, credentials: Credentials = noCredentials) {
  const completeDefinition: RestToolDefinition = {
    name: 'tool',
    description: '',
    parameters: {},
    method: 'GET',
    url: 'https://api.test/v1/pets',
    arguments: [],
    constants: [],
    contentType: 'application/json',
    isPublic: false,
    ...definition,
  };
  const { url, method, headers, body } = toRestRequest(completeDefinition, args, credentials);
  return { url: url.href, method, headers, body: body?.toString() ?? null };
}

describe('toRestRequest path values', () => {
  const url = 'https://api.test/v1/users/{id}/posts';
  const fill = (id: unknown) => request({ url, arguments: [at('path', 'id')] }, { id }).url;

  it.each([
    ['plain', 'u1', 'u1'],
    ['a number', 7, '7'],
    ['a slash', 'a/b', 'a%2Fb'],
    ['a backslash', 'a\\b', 'a%5Cb'],
    ['a parent directory', '../admin', '..%2Fadmin'],
    ['an encoded parent directory', '%2e%2e%2fadmin', '%252e%252e%252fadmin'],
    ['a doubly encoded parent directory', '%252e%252e', '%25252e%25252e'],
    ['a query', 'x?admin=1', 'x%3Fadmin%3D1'],
    ['a fragment', 'x#y', 'x%23y'],
    ['a parameter', 'x;v=1', 'x%3Bv%3D1'],
    ['another host', '@evil.test', '%40evil.test'],
    ['another address', 'https://evil.test/', 'https%3A%2F%2Fevil.test%2F'],
    ['a placeholder', '{id}', '%7Bid%7D'],
    ['a replacement pattern', '$&$1', '%24%26%241'],
    ['a line break', 'x\r\nHost: evil', 'x%0D%0AHost%3A%20evil'],
    ['NUL', 'x\u0000', 'x%00'],
    ['a lone surrogate', 'x\ud800', 'x%EF%BF%BD'],
    ['three dots', '...', '...'],
    ['other scripts', 'ключ', '%D0%BA%D0%BB%D1%8E%D1%87'],
  ])('encodes %s', (_what, value, encoded) => {
    expect(fill(value)).toBe(`https://api.test/v1/users/${encoded}/posts`);
  });

  it.each([['.'], ['..'], [''], [null], [undefined]])('rejects a value that would change the path: %j', (value) => {
    expect(() => fill(value)).toThrow(ToolError);
  });

  it('rejects values that together form a parent directory', () => {
    const definition = { url: 'https://api.test/a/{x}{y}/b', arguments: [at('path', 'x'), at('path', 'y')] };
    expect(() => request(definition, { x: '.', y: '.' })).toThrow(ToolError);
  });

  it('never changes the host, the port, or the number of segments for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        let filled: string;
        try {
          filled = fill(id);
        } catch (error) {
          expect(error).toBeInstanceOf(ToolError);
          return;
        }
        const { origin, pathname, search, hash } = new URL(filled);
        expect([origin, search, hash, pathname.split('/').length]).toEqual(['https://api.test', '', '', 5]);
        expect(pathname).toMatch(/^\/v1\/users\/[^/]+\/posts$/);
      }),
    );
  });

  it.each(['https://{host}/v1', 'https://api.{x}.test/', '{url}', 'ftp://api.test/{id}', 'https://u{x}@api.test/'])(
    'rejects a placeholder before the path: %s',
    (template) =>
      expect(() => request({ url: template, arguments: [at('path', 'x'), at('path', 'host')] }, { x: 'a', host: 'b' })).toThrow(
        ToolError,
      ),
  );
});

describe('toRestRequest query values', () => {
  const fill = (q: unknown, extra: Partial<RestToolDefinition> = {}) =>
    request({ arguments: [at('query', 'q')], ...extra }, { q }).url;

  it.each([
    ['a further parameter', 'a&admin=1', '?q=a%26admin%3D1'],
    ['a fragment', 'a#b', '?q=a%23b'],
    ['a plus', 'a+b c', '?q=a%2Bb%20c'],
    ['an array, repeated', ['a', 'b&c', 3], '?q=a&q=b%26c&q=3'],
    ['an empty array', [], ''],
    ['a boolean', true, '?q=true'],
    ['zero', 0, '?q=0'],
    ['an empty text', '', '?q='],
    ['an object', { a: 1 }, '?q=%7B%22a%22%3A1%7D'],
    ['null', null, ''],
  ])('encodes %s', (_what, value, query) => {
    expect(fill(value)).toBe(`https://api.test/v1/pets${query}`);
  });

  it('joins a list without explode', () => {
    expect(fill(['a', 'b c'], { arguments: [{ ...at('query', 'q'), style: 'form', explode: false }] })).toBe(
      'https://api.test/v1/pets?q=a%2Cb%20c',
    );
  });

  it.each<[Partial<RestArgument>, unknown, string]>([
    [{ style: 'deepObject' }, { gte: 1, of: { a: ['x', 'y'] } }, 'q[gte]=1&q[of][a][0]=x&q[of][a][1]=y'],
    [{ style: 'deepObject' }, ['a', 'b'], 'q[0]=a&q[1]=b'],
    [{ style: 'deepObject' }, 7, 'q=7'],
    [{ style: 'form' }, { r: 1, g: ['a', 'b'] }, 'r=1&g=a&g=b'],
    [{ style: 'form', explode: false }, { r: 1, g: 2 }, 'q=r,1,g,2'],
    [{ style: 'spaceDelimited', explode: false }, ['a', 'b'], 'q=a b'],
    [{ style: 'pipeDelimited' }, ['a', 'b'], 'q=a|b'],
    [{ style: 'pipeDelimited', explode: true }, ['a', 'b'], 'q=a&q=b'],
  ])('serializes by style: %j of %j', (style, value, query) => {
    const url = fill(value, { arguments: [{ ...at('query', 'q'), ...style }] });
    expect(decodeURIComponent(url)).toBe(`https://api.test/v1/pets?${query}`);
  });

  it('fills a placeholder in the query of the URL', () => {
    const url = 'https://api.test/v1/pets?fixed=1&q={q}';
    expect(request({ url, arguments: [at('path', 'q')] }, { q: 'a&b' }).url).toBe('https://api.test/v1/pets?fixed=1&q=a%26b');
  });

  it('does not override a query parameter of the URL', () => {
    expect(fill('mine', { url: 'https://api.test/v1/pets?q=theirs' })).toBe('https://api.test/v1/pets?q=theirs');
  });
});

describe('toRestRequest header values', () => {
  const fill = (value: unknown) => request({ arguments: [at('header', 'x', 'X-Trace')] }, { x: value }).headers['x-trace'];

  it.each(['a\r\nX-Admin: 1', 'a\nb', 'a\rb', 'a\u0000b', '\u007f', 'a\u000bb'])('rejects control characters: %j', (value) => {
    expect(() => fill(value)).toThrow('line breaks or control characters');
  });

  it('also rejects control characters in lists', () => {
    expect(fill(['a', 'b'])).toBe('a,b');
    expect(() => fill(['a', 'b\r\nc'])).toThrow(ToolError);
    expect(fill({ a: 'b\r\nc' })).toBe('{"a":"b\\r\\nc"}');
  });

  it('encodes values as UTF-8', () => {
    expect(Buffer.from(fill('ü') ?? '', 'latin1').toString()).toBe('ü');
  });
});

describe('toRestRequest body', () => {
  const post = { method: 'POST' as const, arguments: [at('body', 'name'), at('body', 'tags'), at('query', 'dry', 'dry_run')] };

  it('is JSON by default', () => {
    const { url, body, headers } = request(post, { name: 'a"b', tags: ['x'], dry: true, more: 'not asked for' });
    expect([url, body, headers['content-type']]).toEqual([
      'https://api.test/v1/pets?dry_run=true',
      '{"name":"a\\"b","tags":["x"]}',
      'application/json',
    ]);
  });

  it('can be a form', () => {
    const { body, headers } = request(
      { ...post, contentType: 'application/x-www-form-urlencoded' },
      { name: 'a&b=c', tags: ['x', 'y'] },
    );
    expect([body, headers['content-type']]).toEqual(['name=a%26b%3Dc&tags=x&tags=y', 'application/x-www-form-urlencoded']);
  });

  it('can be a form with nested fields', () => {
    const args = { name: { de: 'a', en: ['b', 'c'] } };
    const contentType = 'application/x-www-form-urlencoded';
    const { body } = request({ ...post, arguments: [{ ...at('body', 'name'), style: 'deepObject' }], contentType }, args);
    expect(decodeURIComponent(body ?? '')).toBe('name[de]=a&name[en][0]=b&name[en][1]=c');
  });

  it('can be one argument', () => {
    const definition = { method: 'PUT' as const, arguments: [at('whole_body', 'body')] };
    expect(request(definition, { body: [1, 2] }).body).toBe('[1,2]');
    expect(request(definition, { body: { a: 1 } }).body).toBe('{"a":1}');
    expect(request(definition, {}).body).toBeNull();
  });

  it('can be text or the bytes of a data URL', () => {
    const send = (contentType: string, body: unknown) =>
      request({ method: 'POST', contentType, arguments: [at('whole_body', 'body')] }, { body });
    const plain = send('text/plain', 'Hello, *you*');
    expect([plain.body, plain.headers['content-type']]).toEqual(['Hello, *you*', 'text/plain']);
    expect(send('application/octet-stream', 'data:image/png;base64,aGk=').body).toBe('hi');
    expect(send('image/*', 'data:image/png;base64,aGk=').headers['content-type']).toBe('image/png');
    expect(send('application/merge-patch+json', { a: null })).toMatchObject({
      body: '{"a":null}',
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  });

  it('has one multipart part per field and file', () => {
    const definition: Partial<RestToolDefinition> = {
      method: 'POST',
      contentType: 'multipart/form-data',
      arguments: [at('body', 'title'), at('body', 'meta'), at('body', 'tags'), { ...at('body', 'file'), isFile: true }],
    };
    const args = { title: 'a "b"', meta: { n: 1 }, tags: ['x', 'y'], file: 'data:text/csv;name=a%22.csv,1%2C2' };
    const { body, headers } = request(definition, args);
    const [, boundary = ''] = /^multipart\/form-data; boundary=(parley-[0-9a-f]{64})$/.exec(headers['content-type'] ?? '') ?? [];
    const head = 'Content-Disposition: form-data; name=';
    const parts = [
      `${head}"title"\r\n\r\na "b"`,
      `${head}"meta"\r\nContent-Type: application/json\r\n\r\n{"n":1}`,
      `${head}"tags"\r\n\r\nx`,
      `${head}"tags"\r\n\r\ny`,
      `${head}"file"; filename="a%22.csv"\r\nContent-Type: text/csv\r\n\r\n1,2`,
    ];
    expect(body).toBe(`${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`);
  });

  it('is an empty object if all fields are omitted, and null if no field is defined', () => {
    expect(request(post, {}).body).toBe('{}');
    expect(request({ method: 'DELETE' }, { name: 'x' }).body).toBeNull();
  });

  it('moves to the query of a GET request', () => {
    const { url, body } = request(
      { arguments: [at('body', 'name')], constants: [{ location: 'body', key: 'v', value: 1 }] },
      { name: 'x' },
    );
    expect([url, body]).toEqual(['https://api.test/v1/pets?v=1&name=x', null]);
  });

  it('contains only fields of the definition', () => {
    const definition = { method: 'POST' as const, arguments: [at('body', 'constructor'), at('body', 'toString')] };
    expect(request(definition, {}).body).toBe('{}');
  });
});

describe('toRestRequest constants and credentials', () => {
  const all: Partial<RestToolDefinition> = {
    method: 'POST',
    url: 'https://api.test/v1/{team}',
    arguments: [
      at('path', 'team'),
      at('query', 'q', 'key'),
      at('header', 'h', 'X-Key'),
      at('body', 'b', 'token'),
      at('header', 'a', 'Authorization'),
    ],
  };
  const mine = { team: 'mine', q: 'mine', h: 'mine', b: 'mine', a: 'mine' };

  it('override arguments with the same key', () => {
    const constants = [
      { location: 'path' as const, key: 'team', value: 'fixed' },
      { location: 'query' as const, key: 'key', value: 'fixed' },
      { location: 'header' as const, key: 'x-key', value: 'fixed' },
      { location: 'body' as const, key: 'token', value: 'fixed' },
    ];
    const { url, headers, body } = request({ ...all, constants }, mine);
    expect([url, headers['x-key'], body]).toEqual(['https://api.test/v1/fixed?key=fixed', 'fixed', '{"token":"fixed"}']);
  });

  it('override arguments, and credentials also override constants', () => {
    const credentials = {
      headers: { 'x-key': 'secret', authorization: 'secret' },
      query: { key: 's&cret' },
      body: { token: 'secret' },
    };
    const constants = [{ location: 'query' as const, key: 'key', value: 'fixed' }];
    const { url, headers, body } = request({ ...all, constants }, mine, credentials);
    expect(url).toBe('https://api.test/v1/mine?key=s%26cret');
    expect([headers['x-key'], headers.authorization, body]).toEqual(['secret', 'secret', '{"token":"secret"}']);
  });

  it('are also added to a form', () => {
    const { body } = request({ ...all, contentType: 'application/x-www-form-urlencoded' }, mine, {
      ...noCredentials,
      body: { token: 'secret' },
    });
    expect(body).toBe('token=secret');
  });
});
