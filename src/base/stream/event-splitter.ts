/** Thrown if an event exceeds its limit of bytes or lines before it ends. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/** Maximum size of one event. */
const maxEventBytes = 16 * 1024 * 1024;
/** Maximum number of lines in a large event, because 16 MiB of two-byte lines would block the event loop for half a second. */
const maxLargeEventLines = 100_000;
const minLargeEventBytes = 256 * 1024;

const byteOrderMark = '\u00ef\u00bb\u00bf';

/**
 * Collects the reads of a stream of server-sent events (latin1 text), and returns its complete events. A read can end anywhere in
 * an event. Converts line ends to LF.
 */
export class EventSplitter {
  #rest = '';
  /** Number of lines after the first `minLargeEventBytes` of the rest. Lines of events of the usual size are not counted. */
  #restLines = 0;
  #restEndsWithLf = false;
  #endedWithCr = false;
  #isAtStart = true;

  /** Returns the complete events up to now, each with its empty line, or an empty string. Throws `EventTooLarge`. */
  push(piece: string): string {
    const needsConversion = this.#endedWithCr || piece.includes('\r') || (this.#isAtStart && piece.startsWith(byteOrderMark));
    const text = needsConversion ? this.#toLf(piece) : piece;
    if (text !== '') this.#isAtStart = false;
    const end = text.lastIndexOf('\n\n');
    if (end === text.length - 2 && this.#rest === '' && end !== -1) return text;
    if (end !== -1) return this.#split(this.#rest + text.slice(0, end + 2), text.slice(end + 2));
    if (this.#restEndsWithLf && text.startsWith('\n')) return this.#split(`${this.#rest}\n`, text.slice(1));
    // Searches only the new piece. A search in the joined text would make V8 copy all of it with each read.
    if (this.#rest.length > minLargeEventBytes) this.#countLines(text);
    this.#storeRest(this.#rest + text, text === '' ? this.#restEndsWithLf : text.endsWith('\n'));
    return '';
  }

  /** The incomplete event at the end of the stream, or an empty string. */
  get incompleteEvent(): string {
    return this.#rest;
  }

  #split(complete: string, remainder: string): string {
    this.#restLines = 0;
    this.#storeRest(remainder, remainder.endsWith('\n'));
    return complete;
  }

  #storeRest(event: string, endsWithLf: boolean): void {
    if (event.length > maxEventBytes) throw new EventTooLarge(`an event is larger than ${maxEventBytes} bytes`);
    this.#restEndsWithLf = endsWithLf;
    this.#rest = event;
  }

  #countLines(text: string): void {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#restLines += 1;
    if (this.#restLines > maxLargeEventLines) throw new EventTooLarge(`an event has more than ${maxLargeEventLines} lines`);
  }

  #toLf(piece: string): string {
    let text = piece;
    if (this.#isAtStart && text !== '') {
      this.#isAtStart = false;
      if (text.startsWith(byteOrderMark)) text = text.slice(byteOrderMark.length);
    }
    if (this.#endedWithCr && text !== '') {
      this.#endedWithCr = false;
      if (text.startsWith('\n')) text = text.slice(1);
    }
    if (!text.includes('\r')) return text;
    this.#endedWithCr = text.endsWith('\r');
    return text.replace(/\r\n?/g, '\n');
  }
}

/** Returns the event that starts at this index with its empty line, or the remaining text if no empty line follows. */
export function getEventAt(events: string, at: number): string {
  const end = events.indexOf('\n\n', at);
  return events.slice(at, end === -1 ? events.length : end + 2);
}

/** Returns the data of each event. Expects complete events with LF line endings. Skips events without data, such as comments. */
export function listEventData(events: string): string[] {
  const list: string[] = [];
  for (const event of events.split('\n\n')) {
    const data = findData(event);
    if (data !== undefined) list.push(data);
  }
  return list;
}

function findData(event: string): string | undefined {
  if (event.startsWith('data:') && !event.includes('\n')) return event.slice(event[5] === ' ' ? 6 : 5);
  let data: string | undefined;
  for (const line of event.split('\n')) {
    if (!line.startsWith('data:') && line !== 'data') continue;
    const value = line.slice(line[5] === ' ' ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
  }
  return data;
}
