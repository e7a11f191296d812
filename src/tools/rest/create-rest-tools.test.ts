import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { callTool, createTokenCache, startServer } from '#test/rest-tools.ts';
import { createAuthorizer } from '../authorization/authorizer.ts';

describe('createRestTool replies', () => {
  it.each([
    ['JSON', 'application/json', '{"a":1}'],
    ['JSON with a suffix type', 'application/problem+json; charset=utf-8', '{"a":"ü"}'],
    ['text', 'text/plain', 'Grüße'],
    ['text without a type', undefined, 'just text'],
  ])('returns %s unchanged', async (_what, type, body) => {
    const server = await startServer((_request, response) =>
      response.writeHead(200, type ? { 'content-type': type } : {}).end(body),
    );
    expect(await callTool({ url: server.url }, {})).toEqual({ text: body, attachments: [], failed: false });
  });

  it('converts a web page to text, or returns it unchanged if it has no text', async () => {
    for (const [type, body, text] of [
      ['text/html', '<p>hi <b>you</b></p>', 'hi you'],
      ['text/html', '<img src="a.png">', '<img src="a.png">'],
      ['application/xhtml+xml; charset=utf-8', '<script src="a.js"/><p>hi</p>', 'hi'],
    ] as const) {
      const server = await startServer((_request, response) => response.writeHead(200, { 'content-type': type }).end(body));
      expect(await callTool({ url: server.url }, {})).toEqual({ text, attachments: [], failed: false });
    }
  });

  it('decodes the declared character set', async () => {
    const server = await startServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain; charset=ISO-8859-1' }).end(Buffer.from('Grüße', 'latin1')),
    );
    expect(await callTool({ url: server.url }, {})).toMatchObject({ text: 'Grüße' });
  });

  it('returns other content as an attachment', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]);
    const server = await startServer((_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(png));
    expect(await callTool({ url: server.url }, {})).toEqual({
      text: 'The reply is image/png, 8 bytes. The user was shown it.',
      attachments: [{ type: 'image/png', title: 'Reply (image/png)', data: png.toString('base64') }],
      failed: false,
    });
  });

  it('returns the status and a truncated body of an error', async () => {
    const server = await startServer((_request, response) =>
      response.writeHead(422, { 'content-type': 'text/plain' }).end(`city is missing ${'x'.repeat(5000)}`),
    );
    const { text, failed } = await callTool({ url: server.url }, {});
    expect(text).toMatch(/^HTTP 422: city is missing x+…$/);
    expect(text.length).toBeLessThan(2050);
    expect(failed).toBe(true);
  });

  it('reports an empty reply', async () => {
    const server = await startServer((_request, response) => response.writeHead(204).end());
    expect(await callTool({ url: server.url, method: 'DELETE' }, {})).toEqual({
      text: 'Done: HTTP 204, no content.',
      attachments: [],
      failed: false,
    });
  });

  it('reads at most the maximum and closes the connection', async () => {
    let written = 0;
    let closed: () => void = () => undefined;
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.on('close', closed);
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000))) written += 10_000;
        response.once('drain', write);
      };
      write();
    });
    const { text } = await callTool({ url: server.url }, {});
    await isClosed;
    expect(text).toMatch(/^x{10000}\n\n\[The reply is longer\. Only its first 10000 bytes were read\.\]$/);
    expect(written).toBeLessThan(20_000_000);
  });

  it('rejects an attachment that is too large', async () => {
    const server = await startServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(10_001)),
    );
    expect(await callTool({ url: server.url }, {})).toMatchObject({ failed: true, attachments: [] });
  });

  it('decompresses gzip and limits the decompressed size', async () => {
    const packed = (text: string) => (_request: unknown, response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync(text));
    const small = await startServer(packed('Grüße'));
    expect(await callTool({ url: small.url }, {})).toMatchObject({ text: 'Grüße', failed: false });
    expect(small.seen[0]?.headers['accept-encoding']).toBe('identity');
    const large = await startServer(packed('a'.repeat(1_000_000)));
    expect((await callTool({ url: large.url }, {})).text).toMatch(/^a{10000}\n\n\[The reply is longer/);
  });

  it('rejects another content encoding', async () => {
    const server = await startServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'compress' }).end(Buffer.alloc(10)),
    );
    await expect(callTool({ url: server.url }, {})).rejects.toThrow('compress');
  });

  it('masks credentials that the server echoes', async () => {
    const server = await startServer((request, response) => response.end(JSON.stringify(request.headers) + request.url));
    const tokens = createTokenCache();
    const basic = createAuthorizer({ type: 'basic', username: 'ann', password: 'pass-w0rd' }, tokens);
    const inQuery = createAuthorizer({ type: 'api_key', key: 's3 cret', name: 'key', location: 'query' }, tokens);
    expect((await callTool({ url: server.url }, {}, basic)).text).toContain('"authorization":"Basic ***"');
    expect((await callTool({ url: server.url }, {}, inQuery)).text).toMatch(/\/\?key=\*\*\*$/);
  });

  it('masks credentials at the end of a truncated text', async () => {
    const server = await startServer(({ url }, response) =>
      response.writeHead(400, { 'x-pagination': '-'.repeat(290) + url }).end('-'.repeat(1_990) + url),
    );
    const authorizer = createAuthorizer(
      { type: 'api_key', key: 'canary-secret', name: 'k', location: 'query' },
      createTokenCache(),
    );
    const { text, note } = await callTool({ url: server.url }, {}, authorizer);
    expect(text).toMatch(/-\/\?k=\*\*\*$/);
    expect(note).not.toContain('canary');
  });

  it('rejects if the server does not reply in time', async () => {
    const server = await startServer(() => undefined);
    await expect(callTool({ url: server.url }, {})).rejects.toThrow('no reply within 500 ms');
  });

  it('rejects if the connection fails', async () => {
    await expect(callTool({ url: 'http://127.0.0.1:1/' }, {})).rejects.toThrow('no connection');
  });

  it('rejects if the connection closes during the reply', async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 10);
    });
    await expect(callTool({ url: server.url }, {})).rejects.toThrow('closed');
  });
});

describe('createRestTool redirects', () => {
  it('repeats the complete request within the same origin', async () => {
    const server = await startServer((request, response) =>
      request.url === '/end' ? response.end('arrived') : response.writeHead(308, { location: '/end' }).end(),
    );
    const authorizer = createAuthorizer({ type: 'bearer', token: 'secret-token' }, createTokenCache());
    const body = { name: 'a', location: 'body' as const, key: 'a' };
    expect(await callTool({ url: server.url, method: 'POST', arguments: [body] }, { a: 1 }, authorizer)).toMatchObject({
      text: 'arrived',
    });
    expect(server.seen[1]).toMatchObject({ method: 'POST', body: '{"a":1}', headers: { authorization: 'Bearer secret-token' } });
  });

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [301, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [302, 'GET', 'GET'],
  ] as const)('for status %i changes %s to %s', async (status, method, becomes) => {
    const server = await startServer((request, response) =>
      request.url === '/end' ? response.end('arrived') : response.writeHead(status, { location: 'end' }).end(),
    );
    const body = { name: 'a', location: 'body' as const, key: 'a' };
    await callTool({ url: `${server.url}/start`, method, arguments: method === 'GET' ? [] : [body] }, { a: 1 });
    expect(server.seen[1]?.method).toBe(becomes);
    const isKept = becomes !== 'GET';
    expect(server.seen[1]?.body).toBe(isKept ? '{"a":1}' : '');
    expect(server.seen[1]?.headers['content-type']).toBe(isKept ? 'application/json' : undefined);
  });

  it.each([
    ['a bearer token', { type: 'bearer', token: 'canary-secret' }],
    ['basic', { type: 'basic', username: 'canary-secret', password: 'x' }],
    ['a key in a header', { type: 'api_key', key: 'canary-secret', name: 'X-Odd-Name', location: 'header' }],
    ['a key in the query', { type: 'api_key', key: 'canary-secret', name: 'k', location: 'query' }],
  ] as const)('sends no credentials to another origin: %s', async (_what, authorization) => {
    const otherServer = await startServer((_request, response) => response.end('arrived'));
    const server = await startServer((_request, response) => response.writeHead(302, { location: otherServer.url }).end());
    const constants = [{ location: 'header' as const, key: 'X-Tenant', value: 'canary-secret' }];
    const { text } = await callTool({ url: server.url, constants }, {}, createAuthorizer(authorization, createTokenCache()));
    expect(text).toBe('arrived');
    const sent = JSON.stringify(otherServer.seen);
    expect(sent).not.toContain('canary-secret');
    expect(sent).not.toContain(Buffer.from('canary-secret').toString('base64').slice(0, 12));
  });

  it('does not send a body to another origin', async () => {
    const otherServer = await startServer((_request, response) => response.end('arrived'));
    const server = await startServer((_request, response) => response.writeHead(307, { location: otherServer.url }).end());
    await expect(callTool({ url: server.url, method: 'POST' }, {})).rejects.toThrow('another origin');
    expect(otherServer.seen).toEqual([]);
  });

  it.each([
    'http://127.0.0.2/',
    'http://0x7f000002/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
  ])('rejects a forbidden address: %s', async (location) => {
    const server = await startServer((_request, response) => response.writeHead(302, { location }).end());
    await expect(callTool({ url: server.url }, {})).rejects.toMatchObject({ kind: 'unsendable' });
  });

  it('stops after five redirects', async () => {
    const server = await startServer((_request, response) => response.writeHead(302, { location: '/' }).end());
    await expect(callTool({ url: server.url }, {})).rejects.toThrow('more than 5 times');
    expect(server.seen).toHaveLength(6);
  });

  it('rejects an invalid location', async () => {
    const server = await startServer((_request, response) => response.writeHead(302, { location: 'http://' }).end());
    await expect(callTool({ url: server.url }, {})).rejects.toThrow('the server redirects to an invalid URL');
  });
});
