import { encodeEventStreamMessage } from '@copilotkit/aimock';
import { Random } from '../random.ts';
import { bytes, chunked, chunkedField, close, framed, head, lastChunk, type Step } from '../upstreams/fault.ts';
import { type Dialect, dialects, type GoodReply, goodReply } from '../upstreams/good-replies.ts';
import { mutateJson } from './mutate-json.ts';
import { oddValue, oddWord } from './odd-values.ts';

/** One call and the behavior of its upstream. */
export interface UpstreamInput {
  readonly dialect: Dialect;
  readonly isStream: boolean;
  readonly isMessages: boolean;
  readonly steps: (isStreamRequested: boolean) => readonly Step[];
}

/** Returns the nth input. It is the same for the same seed. */
export function upstreamInputAt(seed: number, index: number): UpstreamInput {
  const random = new Random(seed * 1_000_003 + index);
  const [dialect, isStream, isMessages] = [random.pick(dialects), random.chance(0.6), random.chance(0.4)];
  const drawn = random.fork();
  return {
    dialect,
    isStream,
    isMessages,
    steps: (isStreamRequested) => toSteps(goodReply(dialect, isStreamRequested), dialect, drawn.fork()),
  };
}

/** Does not mutate larger events again. One change, such as deep nesting, can already make them large. */
const maxMutatedBytes = 2_000;

/** One parsed event. */
interface Event {
  readonly name: string | undefined;
  readonly value: unknown;
}

const statuses = [201, 204, 206, 301, 400, 401, 403, 404, 413, 422, 500, 502, 503, 504, 529];
const types = ['text/html', 'text/plain', '', 'application/json', 'text/event-stream', 'application/octet-stream'];

function toSteps(good: GoodReply, dialect: Dialect, random: Random): readonly Step[] {
  const pieces = changePieces(good, dialect, random);
  const type = random.chance(0.05) ? random.pick(types) : good.contentType;
  const changed = { ...good, contentType: type, pieces };
  const body = Buffer.concat(pieces);
  switch (random.below(20)) {
    case 0:
      return [head(changed, [`content-length: ${body.length}`], `HTTP/1.1 ${random.pick(statuses)} X`), body, close];
    case 1:
      return [head(changed, []), body, close];
    case 2:
      return [head(changed, [chunkedField]), chunked(body.subarray(0, random.below(body.length + 1))), close];
    case 3:
      return [head(changed, [chunkedField]), ...cutAnywhere(body, random).map(chunked), lastChunk];
    case 4:
      return [head(changed, [`content-length: ${body.length}`, `x-odd: ${oddWord(random).replace(/[^\x20-\x7e]/g, '')}`]), body];
    default:
      return framed(changed, pieces.length === 0 ? [bytes(' ')] : pieces);
  }
}

function cutAnywhere(body: Buffer, random: Random): readonly Buffer[] {
  const offsets = Array.from({ length: 1 + random.below(6) }, () => random.below(body.length + 1)).sort(
    (left, right) => left - right,
  );
  return [0, ...offsets]
    .map((from, index) => body.subarray(from, offsets[index] ?? body.length))
    .filter(({ length }) => length > 0);
}

function changePieces(good: GoodReply, dialect: Dialect, random: Random): readonly Buffer[] {
  let pieces = [...good.pieces];
  const count = 1 + random.below(3);
  for (let step = 0; step < count; step += 1) pieces = changeOnce(pieces, { isStream: good.isStream, dialect, random });
  return pieces;
}

interface Means {
  readonly isStream: boolean;
  readonly dialect: Dialect;
  readonly random: Random;
}

function changeOnce(pieces: Buffer[], { isStream, dialect, random }: Means): Buffer[] {
  const at = random.below(pieces.length + 1);
  const piece = pieces[at] ?? pieces[0] ?? Buffer.alloc(0);
  switch (random.below(isStream ? 12 : 4)) {
    case 0:
      return pieces.with(Math.min(at, pieces.length - 1), flipByte(piece, random));
    case 1:
      return pieces.with(Math.min(at, pieces.length - 1), piece.subarray(0, random.below(piece.length + 1)));
    case 4:
      return pieces.toSpliced(at, 1);
    case 5:
      return pieces.toSpliced(at, 0, piece);
    case 6:
      return pieces.toSpliced(random.below(pieces.length + 1), 0, ...pieces.splice(at, 1));
    case 7:
      return pieces.toSpliced(at, 0, write({ name: undefined, value: oddValue(random) }, { isStream, dialect }));
    case 8:
      return pieces.toSpliced(at, 0, write(random.pick(errors), { isStream, dialect }));
    default:
      return pieces.with(Math.min(at, pieces.length - 1), mutate(piece, { isStream, dialect, random }));
  }
}

const errors: readonly Event[] = [
  { name: undefined, value: { error: { message: 'no', type: 'x', param: null, code: 500 } } },
  { name: 'error', value: { type: 'error', error: { type: 'overloaded_error', message: 'no' } } },
  { name: undefined, value: { object: 'error', message: 'no' } },
  { name: undefined, value: { detail: 'no' } },
];

function flipByte(piece: Buffer, random: Random): Buffer {
  const changed = Buffer.from(piece);
  if (changed.length > 0) changed[random.below(changed.length)] = random.below(256);
  return changed;
}

/** Mutates the JSON of an event. Events without JSON stay unchanged. */
function mutate(piece: Buffer, { isStream, dialect, random }: Means): Buffer {
  const event = piece.length > maxMutatedBytes ? undefined : parse(piece, isStream && dialect === 'bedrock');
  if (event === undefined) return piece;
  return write({ ...event, value: mutateJson(event.value, random, fieldNames) }, { isStream, dialect });
}

const fieldNames = [
  ...[
    'choices',
    'delta',
    'message',
    'content',
    'role',
    'finish_reason',
    'index',
    'tool_calls',
    'function_call',
    'usage',
    'error',
    'logprobs',
  ],
  ...[
    'custom_content',
    'stages',
    'attachments',
    'state',
    'controls',
    'statistics',
    'refusal',
    'reasoning_content',
    'reasoning',
    'audio',
    'id',
  ],
  ...[
    'type',
    'content_block',
    'text',
    'thinking',
    'signature',
    'partial_json',
    'stop_reason',
    'input',
    'citations',
    'name',
    'arguments',
  ],
  ...[
    'candidates',
    'parts',
    'functionCall',
    'finishReason',
    'usageMetadata',
    'promptFeedback',
    'groundingMetadata',
    'inlineData',
    'thought',
  ],
  ...[
    'contentBlockIndex',
    'start',
    'toolUse',
    'stopReason',
    'metrics',
    'reasoningContent',
    'output',
    'data',
    'embedding',
    'object',
    'model',
  ],
];

const eventNames = ['messageStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata'];

function parse(piece: Buffer, isFrame: boolean): Event | undefined {
  try {
    if (!isFrame) {
      const text = piece.toString('utf8');
      const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
      return { name: /^event: (.*)$/m.exec(text)?.[1], value: JSON.parse(data) as unknown };
    }
    const headerLength = piece.readUInt32BE(4);
    const name = eventNames.find((candidate) => piece.subarray(12, 12 + headerLength).includes(candidate));
    return { name, value: JSON.parse(piece.subarray(12 + headerLength, -4).toString('utf8')) as unknown };
  } catch {
    return undefined;
  }
}

function write({ name, value }: Event, { isStream, dialect }: Pick<Means, 'isStream' | 'dialect'>): Buffer {
  const text = JSON.stringify(value) ?? '';
  if (!isStream) return Buffer.from(text);
  if (dialect !== 'bedrock') return Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  return encodeEventStreamMessage(name ?? 'contentBlockDelta', (value ?? {}) as object);
}
