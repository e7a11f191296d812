import type { Random } from '../random.ts';
import { bytes, chunked, chunkedField, close, head, lastChunk, type Step } from '../upstreams/fault.ts';
import type { DrawnText } from './texts.ts';

/** One server-sent event. */
export interface SentEvent {
  readonly name?: string;
  readonly data: string;
}

const maxFieldLength = 12_000;
const maxSingleBytes = 3_000;
const mebibyte = 2 ** 20;

/** Writes events in one valid framing of a server-sent event stream. */
type Framing = (events: readonly SentEvent[], hostile: DrawnText) => readonly Buffer[];

const write = (lineEnd: string, prefix = ''): Framing => {
  return (events) =>
    events.map(({ name, data }) =>
      Buffer.from(`${prefix}${name === undefined ? '' : `event: ${name}${lineEnd}`}data: ${data}${lineEnd}${lineEnd}`),
    );
};
const usual = write('\n');
/** Repeats this piece before the events. */
const before =
  (piece: string, count: number, start = '', end = ''): Framing =>
  (events, hostile) => [
    ...split(bytes(start + piece.repeat(hostile.limitCount(count)) + end), 16_384),
    ...usual(events, hostile),
  ];

/** The usual framing is drawn as often as all other framings together. */
const framings: Readonly<Record<string, Framing>> = {
  'CR LF': write('\r\n'),
  CR: write('\r'),
  'one chunk': (events, hostile) => [Buffer.concat(usual(events, hostile))],
  'single bytes': (events, hostile) => {
    const stream = Buffer.concat(usual(events, hostile));
    const count = hostile.limitCount(maxSingleBytes);
    return [...split(stream.subarray(0, count), 1), ...split(stream.subarray(count), 16_384)];
  },
  'empty events': before('\n', mebibyte / 4),
  'empty events of CR': before('\r', mebibyte / 4),
  'events without data': before('data:\n\n', 30_000),
  'events with a name alone': before('event: x\n\n', 30_000),
  comments: before(':\n\n', 50_000),
  'one long comment': before('a', 2 * mebibyte, ':', '\n\n'),
  'no line end': before('a', 3 * mebibyte, 'data: '),
  'an event of many lines': (events, hostile) =>
    events.map(({ name, data }, index) => {
      const lines = index === 0 ? 'data:\n'.repeat(hostile.limitCount(100_000)) : '';
      return Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}${lines}data: ${data}\n\n`);
    }),
  'a hostile name': (events, hostile) => write('\n', `event: ${hostile.build(2_000)}\n`)(events, hostile),
  'a hostile ID': (events, hostile) => write('\n', `id: ${hostile.build(30_000)}\nretry: 1\n`)(events, hostile),
  'many fields': (events, hostile) => write('\n', 'id: 1\nretry: 1\nx: y\n'.repeat(hostile.limitCount(300)))(events, hostile),
};

/** Draws the name of a framing. */
export function drawFraming(random: Random): string {
  return random.chance(0.5) ? 'LF' : random.pick(Object.keys(framings));
}

/** Splits a stream into pieces in the framing with this name. */
export function frameEvents(events: readonly SentEvent[], framing: string, hostile: DrawnText): readonly Buffer[] {
  return (framings[framing] ?? usual)(events, hostile);
}

function split(buffer: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(buffer.length / size) }, (_, index) => buffer.subarray(index * size, (index + 1) * size));
}

/** Header fields of replies that the service reads. Some include the start of a valid value. */
const replyFields = [
  ...['retry-after: ', 'x-request-id: ', 'content-type: application/json;', 'content-type: text/event-stream;', 'content-type: '],
  ...['set-cookie: ', 'x-ratelimit-reset-tokens: ', 'anthropic-ratelimit-requests-reset: ', 'x-ratelimit-remaining-requests: '],
  ...['www-authenticate: Bearer resource_metadata="', 'www-authenticate: ', 'location: ', 'cache-control: max-age=', 'etag: "'],
  ...['content-disposition: attachment; filename="', 'content-encoding: ', 'keep-alive: timeout=', 'vary: ', 'date: '],
  ...['x-amzn-errortype: ', 'openai-processing-ms: ', 'link: <', 'connection: keep-alive, ', 'content-range: bytes '],
  ...['mcp-session-id: ', 'x-trace: ', 'server-timing: ', 'x-should-retry: ', 'retry-after-ms: '],
];

/** Draws a reply header field with a hostile value. */
export function drawReplyField(hostile: DrawnText, random: Random): string {
  return random.pick(replyFields) + toFieldValue(hostile.build(random.pick([40, 2_000, maxFieldLength])));
}

/** Returns the part of a text that a header field can carry, as UTF-8 in latin1 characters. */
export function toFieldValue(text: string): string {
  const value = Buffer.from(text, 'utf8').toString('latin1').slice(0, maxFieldLength);
  // The parser rejects other control characters before any code reads the field.
  return value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ' ').trim();
}

/** A reply: a chunked stream or one text. */
export interface Reply {
  readonly contentType: string;
  readonly pieces: readonly Buffer[];
  readonly isStream: boolean;
  readonly status?: number;
  readonly fields?: readonly string[];
}

export function toSteps({ contentType, pieces, isStream, status = 200, fields = [] }: Reply): readonly Step[] {
  const line = `HTTP/1.1 ${status} X`;
  if (isStream)
    return [head({ contentType }, [chunkedField, ...fields], line), ...pieces.filter(hasBytes).map(chunked), lastChunk];
  const body = Buffer.concat(pieces);
  const steps = [head({ contentType }, [`content-length: ${body.length}`, ...fields], line), body];
  return status === 204
    ? [head({ contentType }, fields, line)]
    : fields.some((field) => /^connection/.test(field))
      ? [...steps, close]
      : steps;
}

function hasBytes({ length }: Buffer): boolean {
  return length > 0;
}
