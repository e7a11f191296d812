import fc from 'fast-check';

/** A reply as bytes (latin1), split where the server pauses. */
export interface ScriptedReply {
  readonly pieces: readonly string[];
}

const often = <T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>, weight = 40): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: rare, weight: 1 });

const lineEnd = often(fc.constant('\r\n'), fc.constantFrom('\n', '\r', '\r\r\n', '\n\r\n', '\r\n\r\n', ' \r\n', '\r\n '), 150);
const version = often(
  fc.constant('HTTP/1.1'),
  fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.2', 'HTTP/1.', 'ICY'),
);
const status = often(
  fc.constantFrom('200', '201', '404', '429', '500'),
  fc.constantFrom(
    '204',
    '304',
    '204',
    '304',
    '100',
    '101',
    '103',
    '199',
    '299',
    '600',
    '999',
    '99',
    '2000',
    '099',
    '2 0',
    '+20',
    '000',
  ),
  8,
);
const reason = often(
  fc.constantFrom(' OK', '', ' ', ' Not So'),
  fc.constantFrom(' \xe9', ' \x00', '  a\tb', '\tOK', ' \x7f', ' \x01', ' a\rb'),
);

const plainField = fc.constantFrom(
  'X-A: 1',
  'x-a:2',
  'Date: now',
  'Server:\tx \t',
  'Empty:',
  'X-L: \xe9\xa0',
  'Set-Cookie: a=b',
  'set-cookie: c=d',
  'Connection: keep-alive',
  'Connection: close',
  'Keep-Alive: timeout=5',
  'Content-Type: text/event-stream',
  '__proto__: x',
);
const oddField = fc.constantFrom(
  'X-A : 1',
  ' X-A: 1',
  '\tfolded',
  ': no name',
  'no colon',
  'X-A: a\x00b',
  'X-A: a\x7fb',
  'X-A: a\x01b',
  'X-A: a\rb',
  'X-A: a\nb',
  'X-A: a\r\n b',
  'X\xe9: 1',
  'X-"A": 1',
  'Upgrade: h2c',
  'Connection: upgrade',
  'Connection: ,close ,',
  'Trailer: X-T',
  'Content-Length : 3',
  'Transfer-Encoding : chunked',
  'Content-Length: 3',
  'Transfer-Encoding: chunked',
  `X-Long: ${'y'.repeat(3000)}`,
);
const fields = fc.array(often(plainField, oddField), { maxLength: 5 });

const content = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 40 }),
  fc.constantFrom('', '0\r\n\r\n', '\r\n', 'HTTP/1.1 200 OK\r\n\r\n', 'data: {"a":1}\n\n', 'x'.repeat(5000)),
);

const extension = often(
  fc.constantFrom('', '', '', ';a', ';a=b', ';a="b c"', ';a=b;c="d\\"e"'),
  fc.constantFrom(
    ';',
    ' ;a',
    '; a',
    ';a =b',
    ';a= b',
    ';a="',
    ';a="b\rc"',
    ' ',
    '\t',
    ';a=b\n',
    ';\x00',
    `;a=${'z'.repeat(2000)}`,
    ';="b"',
    ';a=;b',
  ),
);
const sizeText = (size: number): fc.Arbitrary<string> => {
  const hex = size.toString(16);
  return often(
    fc.constantFrom(hex, hex.toUpperCase(), `0${hex}`, `000${hex}`),
    fc.constantFrom(
      (size + 1).toString(16),
      `0x${hex}`,
      `+${hex}`,
      `-${hex}`,
      ` ${hex}`,
      '',
      `${hex}h`,
      '10000000000000000',
      'fffffffffffffff',
      'ffffffffffffffff',
      `${'0'.repeat(20)}${hex}`,
    ),
    25,
  );
};
const chunk = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(sizeText(text.length), extension, lineEnd, lineEnd)
    .map(([size, ext, first, last]) => `${size}${ext}${first}${text}${last}`);
const trailers = often(
  fc.constantFrom('', '', 'X-T: 1\r\n'),
  fc.constantFrom(
    'X-T : 1\r\n',
    ' x\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'X\x00: 1\r\n',
    'no colon\r\n',
    'X-T: 1\n',
  ),
);
const chunkedBody = fc
  .tuple(
    fc.array(content.filter((text) => text !== '').chain(chunk), { maxLength: 4 }),
    sizeText(0),
    extension,
    lineEnd,
    trailers,
    lineEnd,
  )
  .map(([chunks, size, ext, first, trailer, last]) => `${chunks.join('')}${size}${ext}${first}${trailer}${last}`);

const framedBody = fc.oneof(
  content.chain((text) =>
    fc.record({
      body: fc.constant(text),
      framing: often<readonly string[]>(
        fc.constantFrom(
          [`Content-Length: ${text.length}`],
          [`content-length:${text.length} `],
          [`Content-Length: 00${text.length}`],
        ),
        fc.constantFrom(
          [],
          [`Content-Length: ${text.length + 1}`],
          [`Content-Length: ${Math.max(0, text.length - 1)}`],
          [`Content-Length: ${text.length}, ${text.length}`],
          [`Content-Length: +${text.length}`],
          [`Content-Length: -${text.length}`],
          [`Content-Length: 0x${text.length}`],
          [`Content-Length: ${text.length} ${text.length}`],
          ['Content-Length:'],
          ['Content-Length: 99999999999999999999999'],
          [`Content-Length: ${text.length}`, `Content-Length: ${text.length}`],
          [`Content-Length: ${text.length}`, `Content-Length: ${text.length + 1}`],
          ['Transfer-Encoding: identity'],
          ['Transfer-Encoding: gzip'],
          ['Transfer-Encoding:'],
        ),
        6,
      ),
    }),
  ),
  fc.record({
    body: chunkedBody,
    framing: often<readonly string[]>(
      fc.constantFrom(['Transfer-Encoding: chunked'], ['transfer-encoding:Chunked '], ['Transfer-Encoding:\tchunked']),
      fc.constantFrom(
        ['Transfer-Encoding: gzip, chunked'],
        ['Transfer-Encoding: chunked, gzip'],
        ['Transfer-Encoding: chunked, chunked'],
        ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
        ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
        ['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'],
        ['Transfer-Encoding: xchunked'],
        ['Transfer-Encoding: chunked;a=b'],
        ['Transfer-Encoding: "chunked"'],
        ['Transfer-Encoding:\x0bchunked'],
        ['Transfer-Encoding:\r\n chunked'],
        ['Transfer-Encoding: chunked', 'Content-Length: 5'],
        ['Content-Length: 5', 'Transfer-Encoding: chunked'],
        ['Content-Length: 5'],
        [],
      ),
      4,
    ),
  }),
);

const head = (framing: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(version, status, reason, fields, fields, fc.array(lineEnd, { minLength: 12, maxLength: 12 }), lineEnd)
    .map(([httpVersion, code, phrase, before, after, ends, last]) => {
      const lines = [`${httpVersion} ${code}${phrase}`, ...before, ...framing, ...after];
      return lines.map((line, nth) => line + (ends[nth] ?? '\r\n')).join('') + last;
    });

const interim = fc.array(
  often(
    fc.constantFrom(
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
      'HTTP/1.1 102 Processing\r\n\r\n',
    ),
    fc.constantFrom(
      'HTTP/1.1 101 Switching\r\n\r\n',
      'HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n',
      '\r\n',
      'HTTP/1.1 103\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'HTTP/1.0 100 Continue\r\n\r\n',
    ),
    4,
  ),
  { maxLength: 2 },
);
const surplus = often(
  fc.constant(''),
  fc.constantFrom('\r\n', 'x', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil', '\x00'),
  5,
);

const reply = fc
  .tuple(
    often(fc.constant<string[]>([]), interim, 4),
    framedBody.chain(({ body, framing }) => head(framing).map((text) => text + body)),
    surplus,
  )
  .map(([before, text, after]) => before.join('') + text + after);

interface Edit {
  readonly at: number;
  readonly deletedChars: number;
  readonly inserted: string;
}
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  deletedChars: fc.integer({ min: 0, max: 3 }),
  inserted: fc.constantFrom(
    '',
    '\r',
    '\n',
    '\r\n',
    '\x00',
    ' ',
    '\t',
    ':',
    ';',
    '0',
    'a',
    'F',
    ',',
    '"',
    '\xff',
    '\x0b',
    '\r\n\r\n',
    'chunked',
  ),
});
const edits = fc.oneof(
  { arbitrary: fc.constant<Edit[]>([]), weight: 4 },
  { arbitrary: fc.array(edit, { minLength: 1, maxLength: 3 }), weight: 2 },
);
const cuts = fc.oneof(fc.constant<number[]>([]), fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }));

function applyEdits(text: string, changes: readonly Edit[]): string {
  let changed = text;
  for (const { at, deletedChars, inserted } of changes) {
    const start = Math.floor(at * Math.min(changed.length, 600));
    changed = changed.slice(0, start) + inserted + changed.slice(start + deletedChars);
  }
  return changed;
}

function splitAt(text: string, positions: readonly number[]): string[] {
  const ends = positions.map((position) => Math.floor(position * Math.min(text.length, 600))).sort((one, other) => one - other);
  const pieces: string[] = [];
  let start = 0;
  for (const end of [...ends, text.length]) {
    if (end > start) pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

/** Valid, unusual, and damaged replies, split at arbitrary positions. */
export const scriptedReply: fc.Arbitrary<ScriptedReply> = fc
  .tuple(reply, edits, cuts)
  .map(([text, changes, positions]) => ({ pieces: splitAt(applyEdits(text, changes), positions) }));
