import { encodeEventStreamMessage } from '@copilotkit/aimock';
import { bytes, chunked, chunkedField, cuts, type Fault, framed, head, lastChunk, type Step, wait } from './fault.ts';
import type { GoodReply } from './good-replies.ts';

type Pieces = (pieces: readonly Buffer[], good: GoodReply) => readonly Buffer[];

const isBinary = (good: GoodReply): boolean => good.contentType.includes('amazon');

/** Encodes one event in the framing of the dialect. */
function event(good: GoodReply, data: string, name?: string): Buffer {
  if (isBinary(good)) return encodeEventStreamMessage(name ?? 'contentBlockDelta', toObject(data));
  return Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
}

function toObject(data: string): object {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? value : { value };
  } catch {
    return { text: data };
  }
}

function stream(name: string, expects: Fault['expects'], change: Pieces): Fault {
  return { name: `stream: ${name}`, expects, only: 'stream', steps: (good) => framed(good, change(good.pieces, good)) };
}

/** Errors in the formats that gateways, servers, and proxies write into a running stream. */
const errorShapes: Readonly<Record<string, { readonly data: string; readonly name?: string }>> = {
  'error with its fields': { data: '{"error":{"message":"CUDA out of memory","type":"server_error","param":null,"code":500}}' },
  'error: a word': { data: '{"error":"CUDA out of memory"}' },
  'object: error': { data: '{"object":"error","message":"CUDA out of memory","code":500}' },
  detail: { data: '{"detail":"CUDA out of memory"}' },
  'detail: a list': { data: '{"detail":[{"loc":["x"],"msg":"no","type":"y"}]}' },
  'type: error': { data: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}' },
  'type: error, with a message': { data: '{"type":"error","message":"Overloaded"}' },
  'event: error': { data: '{"message":"Overloaded"}', name: 'error' },
  'event: error, as text': { data: 'Overloaded', name: 'error' },
  'a code and a status': { data: '{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}' },
  'a list with an error': { data: '[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]' },
};
const inStream: readonly Fault[] = Object.entries(errorShapes).flatMap(([what, { data, name }]) =>
  [
    { when: 'before all', at: () => 0, isEnded: true },
    { when: 'in the middle, then the end mark', at: (count: number) => Math.floor(count / 2), isEnded: true },
    { when: 'in the middle, then silence', at: (count: number) => Math.floor(count / 2), isEnded: false },
  ].map(({ when, at, isEnded }) =>
    stream(`${what}, ${when}`, 'refused', (pieces, good) => [
      ...pieces.slice(0, at(pieces.length)),
      event(good, data, name),
      ...(isEnded ? pieces.slice(-1) : []),
    ]),
  ),
);

const endings: readonly Fault[] = [
  stream('without an end mark', 'either', (pieces) => pieces.slice(0, -1)),
  stream('without its last two events', 'either', (pieces) => pieces.slice(0, -2)),
  stream('of its first event', 'refused', (pieces) => pieces.slice(0, 1)),
  stream('of its last event', 'either', (pieces) => pieces.slice(-1)),
  stream('of nothing', 'refused', () => []),
  stream('of comments', 'refused', (_pieces, good) => (isBinary(good) ? [] : [bytes(': ping\n\n'.repeat(50))])),
  stream('its end twice', 'either', (pieces) => [...pieces, ...pieces.slice(-1)]),
  stream('its finish twice', 'either', (pieces) => [...pieces.slice(0, -1), ...pieces.slice(-3)]),
  stream('twice in one', 'either', (pieces) => [...pieces, ...pieces]),
  stream('backwards', 'either', (pieces) => [...pieces].reverse()),
  stream('events after the end', 'either', (pieces) => [...pieces, ...pieces.slice(1, 3)]),
  stream('each event twice', 'either', (pieces) => pieces.flatMap((piece) => [piece, piece])),
  stream('cut off inside the last event', 'either', (pieces) => [
    ...pieces.slice(0, -1),
    (pieces.at(-1) ?? Buffer.alloc(0)).subarray(0, 4),
  ]),
  stream('cut off inside an event', 'refused', (pieces) => [
    ...pieces.slice(0, 1),
    (pieces[1] ?? Buffer.alloc(0)).subarray(0, 12),
  ]),
];

const odd: Readonly<Record<string, string>> = {
  null: 'null',
  'a number': '7',
  'a list': '[]',
  'an empty object': '{}',
  'no JSON': '{oops',
  'a page': '<html>502</html>',
  'prototype keys': '{"__proto__":{"a":1},"constructor":1}',
  'choices of a wrong type': '{"choices":7,"candidates":7,"type":7}',
  'an index of 1e9': '{"choices":[{"index":1000000000,"delta":{"content":"x"}}]}',
  'an index below 0': '{"choices":[{"index":-1,"delta":{"content":"x"}}],"type":"content_block_delta","index":-1}',
  'a delta that is null': '{"choices":[{"index":0,"delta":null,"finish_reason":null}]}',
  'content that is a number': '{"choices":[{"index":0,"delta":{"content":7}}]}',
  'usage below 0': '{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":-1,"total_tokens":-6}}',
  'usage that is a word': '{"choices":[],"usage":"many"}',
  'usage of 1e308': '{"choices":[],"usage":{"prompt_tokens":1e308,"completion_tokens":1e308,"total_tokens":1e309}}',
  'finish_reason: error': '{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}',
  'half a tool call': '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\":"}}]}}]}',
  'a tool call of the index 1e6': '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1000000,"function":{"name":"f"}}]}}]}',
  '60,000 nested lists': '['.repeat(60_000),
  'a stage of the index 1e9': '{"choices":[{"index":0,"delta":{"custom_content":{"stages":[{"index":1000000000,"name":"x"}]}}}]}',
};
const oddEvents: readonly Fault[] = Object.entries(odd).map(([what, data]) =>
  stream(`an event that is ${what}`, 'either', (pieces, good) => [...pieces.slice(0, 2), event(good, data), ...pieces.slice(2)]),
);

const broken: readonly Fault[] = Object.entries(cuts).flatMap(([how, lastStep]) =>
  [1, 3].map(
    (count): Fault => ({
      name: `stream: ${how} after ${count} events`,
      expects: 'refused',
      only: 'stream',
      steps: (good) => [
        head(good, [chunkedField]),
        ...good.pieces.slice(0, Math.min(count, good.pieces.length - 1)).map(chunked),
        lastStep,
      ],
    }),
  ),
);

/** Changes the line ends of events to those of other servers. Binary streams have none. */
function respelled(name: string, change: (text: string) => string, expects: Fault['expects'] = 'answered'): Fault {
  return stream(name, expects, (pieces, good) =>
    isBinary(good) ? pieces : pieces.map((piece) => Buffer.from(change(piece.toString('utf8')), 'utf8')),
  );
}
const spellings: readonly Fault[] = [
  respelled('lines that end with CRLF', (text) => text.replaceAll('\n', '\r\n')),
  respelled('lines that end with CR', (text) => text.replaceAll('\n', '\r'), 'either'),
  respelled('no space after the colon', (text) => text.replace(/^data: /gm, 'data:')),
  respelled('ids and times to try again', (text) => `id: 7\nretry: 10\n${text}`),
  respelled('comments between', (text) => `: ping\n\n${text}`),
  respelled('empty lines between', (text) => `\n\n${text}`),
  respelled('a mark of the byte order', (text) => `\ufeff${text}`, 'either'),
];

const everMore: readonly Fault[] = [
  {
    name: 'stream: endless, as fast as the reader',
    expects: 'endless',
    only: 'stream',
    steps: (good) => [head(good, [chunkedField]), ...good.pieces.slice(0, 1).map(chunked), repeatEvent(good, 0)],
  },
  {
    name: 'stream: without an end, an event each 20 ms',
    expects: 'endless',
    only: 'stream',
    steps: (good) => [head(good, [chunkedField]), ...good.pieces.slice(0, 1).map(chunked), repeatEvent(good, 20)],
  },
  {
    name: 'stream: one event without an end',
    expects: 'refused',
    only: 'stream',
    steps: (good) => [
      head(good, [chunkedField]),
      { kind: 'repeat', bytes: chunked(Buffer.alloc(65_536, 'a')), times: Number.POSITIVE_INFINITY, everyMs: 0 },
    ],
  },
  {
    name: 'stream: comments without an end',
    expects: 'endless',
    only: 'stream',
    steps: (good) => [
      head(good, [chunkedField]),
      ...good.pieces.slice(0, 2).map(chunked),
      { kind: 'repeat', bytes: chunked(bytes(': ping\n\n')), times: Number.POSITIVE_INFINITY, everyMs: 10 },
    ],
  },
  {
    name: 'stream: pauses that are in time',
    expects: 'answered',
    only: 'stream',
    steps: (good) => [head(good, [chunkedField]), ...good.pieces.flatMap((piece) => [chunked(piece), wait(30)]), lastChunk],
  },
];

function repeatEvent(good: GoodReply, everyMs: number): Step {
  const text = good.pieces[Math.min(2, good.pieces.length - 2)] ?? Buffer.alloc(0);
  return { kind: 'repeat', bytes: chunked(text), times: Number.POSITIVE_INFINITY, everyMs };
}

/** Faults of the events of a stream and of their order. */
export const streamFaults: readonly Fault[] = [...inStream, ...endings, ...oddEvents, ...broken, ...spellings, ...everMore];
