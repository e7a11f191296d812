import { bytes, chunked, chunkedField, close, cuts, type Fault, framed, head, lastChunk, reset, stall, wait } from './fault.ts';
import type { GoodReply } from './good-replies.ts';

const refused = 'refused' as const;
const all = (good: GoodReply): Buffer => Buffer.concat(good.pieces);

function name(what: string): string {
  return `head: ${what}`;
}

const partialHeads: Readonly<Record<string, string>> = {
  nothing: '',
  'half a status line': 'HTTP/1.1 20',
  'a status line': 'HTTP/1.1 200 OK\r\n',
  'half a field': 'HTTP/1.1 200 OK\r\ncontent-ty',
  'half of the fields': 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n',
  'an interim head': 'HTTP/1.1 100 Continue\r\n\r\n',
};

const cutHeads: readonly Fault[] = Object.entries(partialHeads).flatMap(([what, text]) =>
  Object.entries(cuts).map(([how, lastStep]) => ({
    name: name(`${what}, then ${how}`),
    expects: refused,
    steps: () => [...(text === '' ? [] : [bytes(text)]), lastStep],
  })),
);

/** Status lines that a client should reject, except for the last one. */
const statusLines: readonly string[] = [
  ...['HTTP/1.1 000 X', 'HTTP/1.1 099 X', 'HTTP/1.1 1000 X', 'HTTP/1.1 -1 X', 'HTTP/1.1 20x OK', 'HTTP/1.1  200 OK'],
  ...[
    'HTTP/2 200 OK',
    'HTTP/9.9 200 OK',
    'HTTP 200 OK',
    'ICY 200 OK',
    '200 OK',
    'http/1.1 200 OK',
    '\0\0\0\0',
    'SSH-2.0-OpenSSH_9',
  ],
];
const oddStatusLines: readonly Fault[] = statusLines.map((line) => ({
  name: name(`the status line ${JSON.stringify(line)}`),
  expects: refused,
  steps: (good) => [head(good, ['content-length: 2'], line), bytes('{}'), close],
}));

/** Invalid fields, or fields that make two parsers see two different replies. */
const badFields: Readonly<Record<string, readonly string[]>> = {
  'a negative length': ['content-length: -5'],
  'a length that is a word': ['content-length: five'],
  'a length of 21 digits': ['content-length: 999999999999999999999'],
  'two lengths that differ': ['content-length: 5', 'content-length: 6'],
  'a length and chunks': ['content-length: 5', chunkedField],
  'chunks twice': [chunkedField, chunkedField],
  'an unrequested transfer coding': ['transfer-encoding: gzip, chunked'],
  'a field without a colon': ['no colon here'],
  'a field with NUL': ['x-nul: a\0b', 'content-length: 5'],
  'a field name with a space': ['x y: 1', 'content-length: 5'],
  'a folded field': ['x-folded: a\r\n b', 'content-length: 5'],
  'a bare line feed': ['x-a: 1\nx-b: 2', 'content-length: 5'],
};
const oddFields: readonly Fault[] = Object.entries(badFields).map(([what, fields]) => ({
  name: name(what),
  expects: 'either',
  steps: (good) => [head(good, fields), all(good), close],
}));

const interims: readonly Fault[] = [
  ...[1, 3].map(
    (times): Fault => ({
      name: name(`${times} × 100 before it`),
      expects: 'answered',
      steps: (good) => [bytes('HTTP/1.1 100 Continue\r\n\r\n'.repeat(times)), ...framed(good)],
    }),
  ),
  {
    name: name('103 with fields before it'),
    expects: 'answered',
    steps: (good) => [bytes('HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'), ...framed(good)],
  },
  {
    name: name('10,000 × 102 before it'),
    expects: 'either',
    steps: (good) => [bytes('HTTP/1.1 102 Processing\r\n\r\n'.repeat(10_000)), ...framed(good)],
  },
  {
    name: name('102 without an end'),
    expects: refused,
    steps: () => [
      { kind: 'repeat', bytes: bytes('HTTP/1.1 102 Processing\r\n\r\n'), times: Number.POSITIVE_INFINITY, everyMs: 5 },
    ],
  },
  {
    name: name('101 to another protocol'),
    expects: refused,
    steps: () => [bytes('HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n'), stall],
  },
];

const floods: Readonly<Record<string, { readonly fields: readonly string[]; readonly expects: Fault['expects'] }>> = {
  '50 fields': { fields: Array.from({ length: 50 }, (_, index) => `x-${index}: ${index}`), expects: 'answered' },
  '20,000 fields': { fields: Array.from({ length: 20_000 }, (_, index) => `x-${index}: ${index}`), expects: 'either' },
  'one field 20,000 times': { fields: Array.from({ length: 20_000 }, () => 'x-same: 1'), expects: 'either' },
  'a field of 8 kB': { fields: [`x-long: ${'a'.repeat(8_000)}`], expects: 'answered' },
  'a field of 1 MB': { fields: [`x-long: ${'a'.repeat(1_000_000)}`], expects: refused },
  'fields of prototypes': { fields: ['__proto__: 1', 'constructor: 1', 'toString: 1'], expects: 'answered' },
  'names in all cases': { fields: ['X-A: 1', 'x-a: 2', 'X-a: 3'], expects: 'answered' },
  'cookies and hop-by-hop fields': {
    fields: ['set-cookie: a=b', 'proxy-authenticate: Basic', 'trailer: x'],
    expects: 'answered',
  },
};
const flooded: readonly Fault[] = Object.entries(floods).map(([what, { fields, expects }]) => ({
  name: name(what),
  expects,
  steps: (good) => framed(good, good.pieces, fields),
}));

/** Sends a text byte by byte with a pause of `ms`. */
function slowly(text: Buffer, ms: number): readonly (Buffer | ReturnType<typeof wait>)[] {
  return [...text].flatMap((byte) => [Buffer.from([byte]), wait(ms)]);
}

const paces: readonly Fault[] = [
  {
    name: name('a byte each millisecond'),
    expects: 'answered',
    steps: (good) => [...slowly(head(good, [chunkedField]), 1), ...good.pieces.map(chunked), lastChunk],
  },
  {
    name: name('a byte each 50 ms, for ever'),
    expects: refused,
    steps: () => [
      bytes('HTTP/1.1 200 OK\r\nx-slow: '),
      { kind: 'repeat', bytes: bytes('a'), times: Number.POSITIVE_INFINITY, everyMs: 50 },
    ],
  },
  {
    name: name('complete, then an immediate reset'),
    expects: refused,
    steps: (good) => [head(good, [chunkedField]), wait(20), reset],
  },
];

/** Faults between the request and the end of the header section. */
export const headFaults: readonly Fault[] = [...cutHeads, ...oddStatusLines, ...oddFields, ...interims, ...flooded, ...paces];
