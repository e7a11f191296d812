import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { ReplyParser } from './reply-parser.ts';

interface ReadResult {
  status: number;
  content: string;
  error: string | null;
  isDone: boolean;
  hasSurplus: boolean;
  keepAliveMs: number;
}

function read(pieces: readonly string[], ends = false): ReadResult {
  const parser = new ReplyParser();
  let content = '';
  for (const piece of pieces) {
    parser.feed(piece);
    content += parser.content;
  }
  if (ends) parser.endInput();
  const { status, error, isDone, hasSurplus, keepAliveMs } = parser;
  return { status, content, error, isDone, hasSurplus, keepAliveMs };
}

const head = (...fields: string[]): string => `HTTP/1.1 200 OK\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`;
const chunked = (body: string): string => head('Transfer-Encoding: chunked') + body;
const okHead = head('Content-Length: 2');

describe('ReplyParser accepts', () => {
  it.each([
    ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok'],
    ['an empty reason phrase', 'HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok'],
    ['lengths with zeros in front', `${head('Content-Length: 0002')}ok`],
    ['upper-case names and values', `${head('TRANSFER-ENCODING: CHUNKED')}2\r\nok\r\n0\r\n\r\n`],
    ['chunk extensions', chunked('2;a;b=c;d="e\\"f"\r\nok\r\n0;z\r\n\r\n')],
    ['chunk sizes with zeros in front', chunked('0002\r\nok\r\n000\r\n\r\n')],
    ['trailers', chunked('2\r\nok\r\n0\r\nX-A: 1\r\nX-B:\r\n\r\n')],
    ['interim replies', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\n${okHead}ok`],
  ])('%s', (_what, text) => {
    expect(read([text])).toMatchObject({ status: 200, content: 'ok', error: null, isDone: true, hasSurplus: false });
  });

  it.each([
    ['no length, no chunks', head(), 'ok'],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n', 'ok'],
  ])('a body up to the end of input: %s', (_what, start, body) => {
    expect(read([start, body])).toMatchObject({ content: 'ok', isDone: false });
    expect(read([start, body], true)).toMatchObject({ content: 'ok', isDone: true, keepAliveMs: 0 });
  });

  it.each([204, 304])('a reply without a body and with status %i', (status) => {
    expect(read([`HTTP/1.1 ${status} x\r\n\r\n`])).toMatchObject({ status, content: '', isDone: true, keepAliveMs: 4000 });
  });

  it('a length without a body and with status 304', () => {
    expect(read(['HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n'])).toMatchObject({ isDone: true, hasSurplus: false });
  });

  it('large chunks in pieces without waiting for their end', () => {
    const parser = new ReplyParser();
    parser.feed(chunked('fffff\r\nabc'));
    expect(parser.content).toBe('abc');
    parser.feed('def');
    expect(parser.content).toBe('def');
  });
});

describe('ReplyParser rejects', () => {
  it.each([
    ['another protocol', 'SSH-2.0-x\r\n'],
    ['HTTP/2 in clear', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['HTTP/0.9', '<html>'],
    ['an empty line first', `\r\n${okHead}`],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['101', 'HTTP/1.1 101 Switching\r\nUpgrade: a\r\n\r\n'],
    ['an interim reply in HTTP/1.0', 'HTTP/1.0 100 Continue\r\n\r\n'],
    ['endless interim replies', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17)],
    ['length and chunks', head('Content-Length: 2', 'Transfer-Encoding: chunked')],
    ['chunks and length', head('Transfer-Encoding: chunked', 'Content-Length: 2')],
    ['two lengths', head('Content-Length: 2', 'Content-Length: 3')],
    ['the same length twice', head('Content-Length: 2', 'content-length: 2')],
    ['a list of lengths', head('Content-Length: 2, 2')],
    ['a signed length', head('Content-Length: +2')],
    ['a negative length', head('Content-Length: -2')],
    ['a hexadecimal length', head('Content-Length: 0x2')],
    ['an empty length', head('Content-Length:')],
    ['a length in two parts', head('Content-Length: 2 2')],
    ['a length beyond any', head('Content-Length: 99999999999999999999')],
    ['gzip under chunked', head('Transfer-Encoding: gzip, chunked')],
    ['chunked twice', head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
    ['identity', head('Transfer-Encoding: identity')],
    ['a vertical tab before chunked', head('Transfer-Encoding: \x0bchunked')],
    ['chunked in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a length with 204', 'HTTP/1.1 204 x\r\nContent-Length: 1\r\n\r\n'],
    ['chunks with 204', 'HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a folded line', head('A: b', ' c')],
    ['a folded first line', 'HTTP/1.1 200 OK\r\n A: b\r\n\r\n'],
    ['space before the colon', head('A : b')],
    ['a line without colon', head('abc')],
    ['an empty name', head(': b')],
    ['a name with a high byte', head('\xe9: b')],
    ['NUL in a value', head('A: b\x00c')],
    ['DEL in a value', head('A: b\x7fc')],
    ['bare CR in a value', head('A: b\rc')],
    ['bare LF in a value', head('A: b\nC: d')],
    ['bare LF as line end', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['bare LF in an unfinished head', 'HTTP/1.1 200 OK\nContent-Le'],
    ['bare CR in an unfinished head', 'HTTP/1.1 200 OK\rContent-Le'],
    ['bare LF after a chunk size', chunked('2\nok\r\n0\r\n\r\n')],
    ['bare LF after a chunk', chunked('2\r\nok\n0\r\n\r\n')],
    ['no line end after a chunk', chunked('2\r\nokx')],
    ['a chunk size of no digits', chunked('\r\n')],
    ['a signed chunk size', chunked('+2\r\nok')],
    ['a chunk size with 0x', chunked('0x2\r\nok')],
    ['a blank after a chunk size', chunked('2 \r\nok')],
    ['a chunk size of 17 digits', chunked('00000000000000002\r\nok')],
    ['a chunk size above 2^53', chunked('20000000000001\r\nok')],
    ['CR alone in an extension', chunked('2;a\rb\r\nok')],
    ['LF alone in an extension', chunked('2;a\nb\r\nok')],
    ['an extension without end', chunked(`2;${'a'.repeat(2000)}`)],
    ['a trailer with a blank before the colon', chunked('0\r\nA : b\r\n\r\n')],
    ['a length in a trailer', chunked('0\r\nContent-Length: 2\r\n\r\n')],
    ['chunked in a trailer', chunked('0\r\nTransfer-Encoding: chunked\r\n\r\n')],
    ['trailers without end', chunked(`0\r\n${'A: b\r\n'.repeat(20_000)}`)],
    ['a trailer line without end', chunked(`0\r\nA: ${'b'.repeat(70_000)}`)],
    ['a head of more than 64 kB', head(`A: ${'b'.repeat(66_000)}`)],
    ['a head without end', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(66_000)}`],
    ['more than 256 fields', head(...Array.from({ length: 257 }, (_, nth) => `A${nth}: b`))],
  ])('%s', (_what, text) => {
    expect(read([text]).error).toMatch(/^[A-Za-z0-9]/);
    expect(read([...text]).error).toMatch(/^[A-Za-z0-9]/);
  });
});

describe('ReplyParser after a complete reply', () => {
  it.each([
    ['4 s by default', head('Content-Length: 0'), 4000],
    ['the hint less a second', head('Keep-Alive: timeout=60, max=10', 'Content-Length: 0'), 59_000],
    ['not at all with a hint of one second', head('Keep-Alive: timeout=1', 'Content-Length: 0'), 0],
    ['ten minutes at most', head('Keep-Alive: timeout=999999', 'Content-Length: 0'), 600_000],
    ['by default with a hint it cannot read', head('Keep-Alive: max=7', 'Content-Length: 0'), 4000],
    ['not at all after close', head('Connection: close', 'Content-Length: 0'), 0],
    ['not at all after close in a list', head('Connection: keep-alive', 'connection: x,CLOSE', 'Content-Length: 0'), 0],
    ['not at all in HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', 0],
    ['with keep-alive in HTTP/1.0', 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n', 4000],
    ['not when a token only contains close', head('Connection: closed', 'Content-Length: 0'), 4000],
  ])('keeps the connection %s', (_what, text, keepAliveMs) => {
    expect(read([text])).toMatchObject({ isDone: true, keepAliveMs });
  });

  it('reports surplus bytes in the same read or the next', () => {
    expect(read([`${okHead}okHTTP/1.1`])).toMatchObject({ content: 'ok', isDone: true, hasSurplus: true });
    expect(read([`${okHead}ok`, 'x'])).toMatchObject({ content: 'ok', isDone: true, hasSurplus: true });
  });

  it('reads the next reply after reset', () => {
    const parser = new ReplyParser();
    parser.feed(chunked('2\r\nok\r\n0\r\n\r\n'));
    parser.reset();
    parser.feed(`HTTP/1.1 404 x\r\nContent-Length: 1\r\n\r\nn`);
    expect([parser.status, parser.content, parser.isDone, parser.headers['content-length']]).toEqual([404, 'n', true, '1']);
  });
});

describe('ReplyParser with split input', () => {
  const replies = [
    `HTTP/1.1 100 Continue\r\n\r\n${head('A: b', 'Content-Length: 5')}hello`,
    chunked('5;a="b"\r\nhello\r\nC\r\n, wide world\r\n0\r\nA: b\r\n\r\n'),
    chunked('5\r\nhello\r\n0\r\n\r\nsurplus'),
    chunked('5\r\nhello\r\nxx'),
    chunked('5\r\nhello6\r\n'),
    head('Content-Length: 3', 'Content-Length: 4'),
    `${head()}hello`,
  ];

  it.each(replies.map((reply, nth) => [nth, reply] as const))(
    'reads reply %i the same, regardless of the split',
    (_nth, reply) => {
      const expected = read([reply], true);
      for (let index = 0; index <= reply.length; index++)
        expect(read([reply.slice(0, index), reply.slice(index)], true)).toEqual(expected);
      expect(read([...reply], true)).toEqual(expected);
      const positions = fc.array(fc.nat(reply.length), { maxLength: 8 });
      fc.assert(
        fc.property(positions, (splits) => {
          const ends = [...splits.sort((one, other) => one - other), reply.length];
          const pieces = ends.map((end, nth) => reply.slice(ends[nth - 1] ?? 0, end));
          expect(read(pieces, true)).toEqual(expected);
        }),
      );
    },
  );
});
