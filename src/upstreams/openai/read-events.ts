import { EventSplitter, EventTooLarge, eventData } from '#base/event-splitter.ts';
import { isJsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { toUpstreamFault } from './send.ts';

const lineFeed = 10;
const letterD = 100;
const bracket = 91;
const endMark = '[DONE]';
/** How long the rest of a reply is waited for after its end mark, so that its connection can serve again. */
const lingerMs = 500;

/** The events of a chat reply as frames, up to `[DONE]`. A stream that closes without it, or brings an error event, is a fault. */
export async function* readEvents(body: AsyncIterable<string>): AsyncIterable<Frame> {
  const pieces = body[Symbol.asyncIterator]();
  const splitter = new EventSplitter();
  let hasEnded = false;
  try {
    while (!hasEnded) {
      const piece = await pieces.next();
      if (piece.done) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
      const events = splitter.push(piece.value);
      if (events === '') continue;
      const { bytes, isLast } = toDataOnly(events);
      hasEnded = isLast;
      if (bytes !== '') yield* withoutError(bytes);
    }
  } catch (thrown) {
    if (thrown instanceof EventTooLarge) throw new UpstreamFault('broken', 'The upstream sent an event that is too large.', { cause: thrown });
    throw toUpstreamFault(thrown);
  } finally {
    if (hasEnded) linger(pieces);
    else await pieces.return?.();
  }
}

/** The events before the end mark; comments and fields other than data are left out. */
function toDataOnly(events: string): { bytes: string; isLast: boolean } {
  let at = 0;
  let isPlain = true;
  while (at < events.length) {
    if (events.charCodeAt(at) === lineFeed) {
      at += 1;
      continue;
    }
    const lineEnd = events.indexOf('\n', at);
    if (events.charCodeAt(at) !== letterD) isPlain = false;
    else if (isEndMark(events, at, lineEnd)) return { bytes: isPlain ? events.slice(0, at) : rebuilt(events.slice(0, at)), isLast: true };
    at = lineEnd + 1;
  }
  return { bytes: isPlain ? events : rebuilt(events), isLast: false };
}

function isEndMark(events: string, lineStart: number, lineEnd: number): boolean {
  if (events.charCodeAt(lineStart + 6) !== bracket && events.charCodeAt(lineStart + 5) !== bracket) return false;
  return events.slice(lineStart, lineEnd).trimEnd().replace('data: ', 'data:') === `data:${endMark}`;
}

function rebuilt(events: string): string {
  return eventData(events).map(toBytes).join('');
}

/** An event of one line; a line feed in JSON is white space. */
function toBytes(data: string): string {
  return `data: ${data.replaceAll('\n', ' ')}\n\n`;
}

function* withoutError(bytes: string): Iterable<Frame> {
  if (!bytes.includes('"error"')) {
    yield Frame.ofEvents(bytes);
    return;
  }
  let good = '';
  for (const data of eventData(bytes)) {
    const fault = toFault(data);
    if (fault === undefined) {
      good += toBytes(data);
      continue;
    }
    if (good !== '') yield Frame.ofEvents(good);
    throw fault;
  }
  yield Frame.ofEvents(good);
}

/** The fault that an error event tells of; undefined for any other event. */
function toFault(data: string): UpstreamFault | undefined {
  if (!data.includes('"error"')) return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value) || value.error === undefined || value.error === null || Array.isArray(value.choices)) return undefined;
  return toErrorFault(value.error);
}

function toErrorFault(error: unknown): UpstreamFault {
  const { message, param, code } = isJsonObject(error) ? error : { message: error, param: null, code: null };
  const status = typeof code === 'number' ? code : undefined;
  return new UpstreamFault('refused', typeof message === 'string' ? message : 'The upstream sent an error.', {
    param: typeof param === 'string' ? param : null,
    code: typeof code === 'string' ? code : null,
    ...(status !== undefined && { status }),
  });
}

/** Reads on for a moment without anybody waiting; what does not end is closed. */
function linger(pieces: AsyncIterator<string>): void {
  const close = (): void => void pieces.return?.();
  const timer = setTimeout(close, lingerMs);
  const rest = async (): Promise<void> => {
    for (let read = 0; read < 16; read += 1) if ((await pieces.next()).done) return;
    close();
  };
  rest()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
}
