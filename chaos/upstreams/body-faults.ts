import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { bytes, chunked, chunkedField, close, cuts, type Fault, framed, head, lastChunk, type Step, wait } from './fault.ts';
import type { GoodReply } from './good-replies.ts';

const all = (good: GoodReply): Buffer => Buffer.concat(good.pieces);

function half(good: GoodReply): Buffer {
  const body = all(good);
  return body.subarray(0, Math.floor(body.length / 2));
}

const byLength = (length: number): readonly string[] => [`content-length: ${length}`];

/** Truncated bodies by framing. */
const brokenFrames: Readonly<Record<string, (good: GoodReply) => readonly Step[]>> = {
  'no byte of the length': (good) => [head(good, byLength(all(good).length))],
  'half of the length': (good) => [head(good, byLength(all(good).length)), half(good)],
  'a length with a byte too many': (good) => [head(good, byLength(all(good).length + 1)), all(good)],
  'no chunk': (good) => [head(good, [chunkedField])],
  'half a chunk size': (good) => [head(good, [chunkedField]), bytes('1')],
  'half a chunk': (good) => [head(good, [chunkedField]), chunked(all(good)).subarray(0, 100)],
  'chunks without the last': (good) => [head(good, [chunkedField]), chunked(half(good))],
};
const cutBodies: readonly Fault[] = Object.entries(brokenFrames).flatMap(([what, steps]) =>
  Object.entries(cuts).map(
    ([how, lastStep]): Fault => ({
      name: `body: ${what}, then ${how}`,
      // The end mark ends a stream, even if the framing announces more.
      expects: what.includes('too many') ? 'either' : 'refused',
      steps: (good) => [...steps(good), lastStep],
    }),
  ),
);

const chunkSizes = [
  'zz',
  '-5',
  '',
  '0x5',
  '5 5',
  'ffffffffffffffffff',
  '7fffffffffffffff',
  '5;',
  `5;${'a'.repeat(20_000)}`,
  '5\n',
  '+5',
];
const oddChunks: readonly Fault[] = chunkSizes.map((size) => ({
  name: `body: a chunk of the size ${JSON.stringify(size.slice(0, 20))}`,
  expects: 'refused',
  steps: (good) => [head(good, [chunkedField]), bytes(`${size}\r\nhello\r\n`), close],
}));

const frames: readonly Fault[] = [
  {
    name: 'body: until the connection closes',
    expects: 'answered',
    steps: (good) => [head(good, []), all(good), close],
  },
  {
    name: 'body: one byte in each chunk',
    expects: 'answered',
    steps: (good) => [
      head(good, [chunkedField]),
      Buffer.concat([...all(good)].map((byte) => chunked(Buffer.from([byte])))),
      lastChunk,
    ],
  },
  {
    name: 'body: one byte in each segment',
    expects: 'answered',
    steps: (good) => [
      head(good, byLength(all(good).length)),
      ...[...all(good).subarray(0, 300)].map((byte) => Buffer.from([byte])),
      all(good).subarray(300),
    ],
  },
  {
    name: 'body: trailers',
    expects: 'answered',
    steps: (good) => [head(good, [chunkedField]), ...good.pieces.map(chunked), bytes('0\r\nx-a: 1\r\nx-b: 2\r\n\r\n')],
  },
  {
    name: 'body: 20,000 trailers',
    expects: 'either',
    steps: (good) => [head(good, [chunkedField]), ...good.pieces.map(chunked), bytes(`0\r\n${'x-a: 1\r\n'.repeat(20_000)}\r\n`)],
  },
  {
    name: 'body: a second reply after it',
    expects: 'either',
    steps: (good) => [...framed(good), ...framed(good)],
  },
  { name: 'body: garbage after it', expects: 'either', steps: (good) => [...framed(good), bytes('garbage\r\n\r\n')] },
  {
    name: 'body: slow, and in time',
    expects: 'answered',
    steps: (good) => [head(good, byLength(all(good).length)), half(good), wait(150), all(good).subarray(half(good).length)],
  },
  {
    name: 'body: a length that is too short',
    expects: 'either',
    steps: (good) => [head(good, byLength(all(good).length - 2)), all(good), close],
  },
  {
    name: 'body: a space each 50 ms, for ever',
    expects: 'endless',
    only: 'whole',
    steps: (good) => [
      head(good, [chunkedField]),
      { kind: 'repeat', bytes: chunked(bytes(' ')), times: Number.POSITIVE_INFINITY, everyMs: 50 },
    ],
  },
  { name: 'body: of no bytes', expects: 'refused', steps: (good) => [head(good, byLength(0)), close] },
];

/** Types that differ from the requested one. The bytes are valid, so a reader may accept them. */
const types = [
  'text/html',
  'text/plain',
  'application/octet-stream',
  'application/xml',
  'x',
  '',
  'multipart/form-data; boundary=x',
  'text/event-stream;charset=utf-16',
  'application/json; charset=latin1',
  'image/png',
  '*/*',
  'application/pdf,text/html',
];
const contentTypes: readonly Fault[] = types.map((type) => ({
  name: `type: ${JSON.stringify(type)}`,
  expects: 'either',
  steps: (good) => framed(good, good.pieces, [`content-type: ${type}`]),
}));
const swapped: Fault = {
  name: 'type: of a stream for a text, and of a text for a stream',
  expects: 'either',
  steps: (good) => framed(good, good.pieces, [`content-type: ${good.isStream ? 'application/json' : 'text/event-stream'}`]),
};

const bomb = gzipSync(Buffer.alloc(300 * 2 ** 20, 'a'), { level: 1 });

/** Content encodings that the request did not allow. */
const encodings: Readonly<
  Record<string, { readonly name: string; readonly expects: Fault['expects']; readonly body: (body: Buffer) => Buffer }>
> = {
  gzip: { name: 'gzip', expects: 'answered', body: (body) => gzipSync(body) },
  deflate: { name: 'deflate', expects: 'answered', body: (body) => deflateSync(body) },
  br: { name: 'br', expects: 'answered', body: (body) => brotliCompressSync(body) },
  identity: { name: 'identity', expects: 'answered', body: (body) => body },
  'invalid gzip': { name: 'gzip', expects: 'refused', body: (body) => body },
  'gzip that is cut off': { name: 'gzip', expects: 'refused', body: (body) => gzipSync(body).subarray(0, -12) },
  'gzip with a wrong sum': {
    name: 'gzip',
    expects: 'refused',
    body: (body) => Buffer.concat([gzipSync(body).subarray(0, -8), Buffer.alloc(8, 7)]),
  },
  'gzip of 300 MB': { name: 'gzip', expects: 'refused', body: () => bomb },
  'invalid br': { name: 'br', expects: 'refused', body: (body) => body },
  'invalid deflate': { name: 'deflate', expects: 'refused', body: () => Buffer.alloc(500, 0xff) },
  'an unknown one': { name: 'foo', expects: 'either', body: (body) => body },
  'gzip twice': { name: 'gzip, gzip', expects: 'either', body: (body) => gzipSync(gzipSync(body)) },
};
const encoded: readonly Fault[] = Object.entries(encodings).map(([what, { name, expects, body }]) => ({
  name: `encoding: ${what}`,
  expects,
  steps: (good) => {
    const content = body(all(good));
    return [head(good, [...byLength(content.length), `content-encoding: ${name}`]), content, close];
  },
}));

const texts: Readonly<Record<string, Buffer>> = {
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  NULs: Buffer.alloc(1_000),
  'random bytes': Buffer.from(Array.from({ length: 2_000 }, (_, index) => (index * 7_919) % 256)),
  'a page': bytes('<!DOCTYPE html><html><body>504 Gateway Time-out</body></html>'),
  'half a JSON text': bytes('{"id":"x","choices":[{"index":0,"mess'),
  null: bytes('null'),
  true: bytes('true'),
  'a number': bytes('7'),
  'a word': bytes('"hello"'),
  'a list': bytes('[]'),
  'an empty object': bytes('{}'),
  'two texts': bytes('{}{}'),
  '50,000 nested lists': bytes('['.repeat(50_000)),
  '50,000 nested objects': bytes('{"a":'.repeat(50_000)),
  'a huge number': bytes(`{"choices":${'9'.repeat(5_000)}}`),
  'prototype keys': bytes('{"__proto__":{"choices":[]},"constructor":{"prototype":{}},"choices":null}'),
  'keys that come twice': bytes('{"choices":[],"choices":null,"candidates":[],"candidates":7}'),
  'lone surrogates': bytes('{"choices":[{"index":0,"message":{"role":"assistant","content":"\\ud800"},"finish_reason":7}]}'),
  '4 MB of spaces': Buffer.alloc(4 * 2 ** 20, ' '),
  '4 MB of quotes': Buffer.alloc(4 * 2 ** 20, '"'),
  '1 MB of line feeds': Buffer.alloc(2 ** 20, '\n'),
  'one event of 4 MB': Buffer.concat([bytes('data: "'), Buffer.alloc(4 * 2 ** 20, 'a'), bytes('"\n\n')]),
  'a line of 4 MB': Buffer.alloc(4 * 2 ** 20, 'a'),
  '2 MB of colons': Buffer.alloc(2 * 2 ** 20, ':'),
};
const contents: readonly Fault[] = Object.entries(texts).map(([what, body]) => ({
  name: `content: ${what}`,
  // JSON accepts half of a surrogate pair as a character.
  expects: what === 'lone surrogates' ? 'either' : 'refused',
  steps: (good) => [head(good, byLength(body.length)), body, close],
}));

/** Faults of framing, type, encoding, and the complete text. */
export const bodyFaults: readonly Fault[] = [
  ...cutBodies,
  ...oddChunks,
  ...frames,
  ...contentTypes,
  swapped,
  ...encoded,
  ...contents,
];
