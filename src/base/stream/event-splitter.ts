/** An event grew past a bound without an end. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/** Readers split an event into lines, and 16 MiB of two-byte lines hold the event loop for half a second. */
const maxLargeEventLines = 100_000;
const minLargeEventBytes = 256 * 1024;

const byteOrderMark = '\u00ef\u00bb\u00bf';

/** Cuts server-sent-event bytes (latin1 text) where whole events end, wherever the reads were cut. Line ends come out as LF. */
export class EventSplitter {
  /** Bound of one event. */
  maxEventBytes = 16 * 1024 * 1024;
  #rest = '';
  /** Lines of the rest after its first `minLargeEventBytes`, so that events of usual size are not counted. */
  #restLines = 0;
  #restEndsWithLf = false;
  #endedWithCr = false;
  #atStart = true;

  /** The whole events that are there now, each ended by an empty line; '' when none is. */
  push(piece: string): string {
    const isOdd = this.#endedWithCr || piece.includes('\r') || (this.#atStart && piece.startsWith(byteOrderMark));
    const text = isOdd ? this.#toLf(piece) : piece;
    if (text !== '') this.#atStart = false;
    const end = text.lastIndexOf('\n\n');
    if (end === text.length - 2 && this.#rest === '' && end !== -1) return text;
    if (end !== -1) return this.#split(this.#rest + text.slice(0, end + 2), text.slice(end + 2));
    if (this.#restEndsWithLf && text.startsWith('\n')) return this.#split(`${this.#rest}\n`, text.slice(1));
    // Only the piece is looked into: what waits is joined where its event ends, or each read would copy all of it.
    if (this.#rest.length > minLargeEventBytes) this.#countLines(text);
    this.#storeRest(this.#rest + text, text === '' ? this.#restEndsWithLf : text.endsWith('\n'));
    return '';
  }

  /** What was left without an end when the stream closed. */
  get rest(): string {
    return this.#rest;
  }

  #split(complete: string, remainder: string): string {
    this.#restLines = 0;
    this.#storeRest(remainder, remainder.endsWith('\n'));
    return complete;
  }

  #storeRest(rest: string, endsWithLf: boolean): void {
    if (rest.length > this.maxEventBytes) throw new EventTooLarge(`an event is larger than ${this.maxEventBytes} bytes`);
    this.#restEndsWithLf = endsWithLf;
    this.#rest = rest;
  }

  #countLines(text: string): void {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#restLines += 1;
    if (this.#restLines > maxLargeEventLines) throw new EventTooLarge(`an event has more than ${maxLargeEventLines} lines`);
  }

  #toLf(piece: string): string {
    let text = piece;
    if (this.#atStart && text !== '') {
      this.#atStart = false;
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

/** The event that begins there, its empty line included; what is left if there is no other, such as an empty line too many. */
export function getEventAt(events: string, at: number): string {
  const end = events.indexOf('\n\n', at);
  return events.slice(at, end === -1 ? events.length : end + 2);
}

/** The data of each event in whole events with LF line ends; events without data (comments) are left out. */
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
