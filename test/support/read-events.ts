import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Chunk, Delta, Usage } from '#contract/chat/chunk.ts';
import type { ErrorBody } from '#contract/errors/error-body.ts';

/** What a stream brought, up to its end. */
export interface Streamed {
  /** The data of every event but the end mark, as text. */
  readonly data: readonly string[];
  /** The events that are chunks. */
  readonly chunks: readonly Chunk[];
  /** The error event, where there was one. */
  readonly error: ErrorBody | undefined;
  /** Whether the last event was the end mark. */
  readonly isDone: boolean;
  readonly comments: readonly string[];
  /** All text of a choice. */
  content(choice?: number): string;
  deltas(choice?: number): Delta[];
  readonly usages: readonly Usage[];
}

/** Reads server-sent events off a response, one at a time or all at once. */
export class StreamReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly comments: string[] = [];
  readonly #response: IncomingMessage;
  readonly #blocks: AsyncIterator<string>;
  readonly #data: string[] = [];

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#blocks = readBlocks(response);
  }

  /** The data of the next event; undefined at the end. Comments are passed over, and kept. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const { done, value } = await this.#blocks.next();
      if (done) return undefined;
      const data = this.#accept(value);
      if (data !== undefined) return data;
    }
  }

  /** The next comment; events before it are kept for `rest`. */
  async comment(): Promise<string | undefined> {
    for (;;) {
      const { done, value } = await this.#blocks.next();
      if (done) return undefined;
      if (this.#accept(value) === undefined) return this.comments.at(-1);
    }
  }

  /** Everything, from the first event on, once the stream is over. Rejects where the connection breaks. */
  async readRest(): Promise<Streamed> {
    while ((await this.next()) !== undefined);
    return toStreamed(this.#data, this.comments);
  }

  /** Leaves; gives the time on the clock of `performance.now`. */
  disconnect(): number {
    this.#response.destroy();
    return performance.now();
  }

  pause(): void {
    this.#response.pause();
  }

  #accept(block: string): string | undefined {
    if (block.startsWith(':')) {
      this.comments.push(block);
      return undefined;
    }
    const data = block
      .split('\n')
      .map((line) => line.replace(/^data: ?/, ''))
      .join('\n');
    this.#data.push(data);
    return data;
  }
}

async function* readBlocks(response: IncomingMessage): AsyncGenerator<string> {
  let buffered = '';
  response.setEncoding('utf8');
  for await (const piece of response) {
    const blocks = (buffered + piece).split('\n\n');
    buffered = blocks.pop() ?? '';
    yield* blocks;
  }
  if (buffered !== '') throw new Error(`the stream ended inside an event: ${buffered}`);
}

function toStreamed(all: readonly string[], comments: readonly string[]): Streamed {
  const isDone = all.at(-1) === '[DONE]';
  const data = isDone ? all.slice(0, -1) : [...all];
  const values = data.map((text) => JSON.parse(text) as Chunk & { error?: ErrorBody });
  const chunks = values.filter((value) => value.error === undefined);
  const deltas = (choice = 0): Delta[] =>
    chunks.flatMap(({ choices }) => choices.filter(({ index }) => index === choice).map(({ delta }) => delta));
  return {
    data,
    chunks,
    error: values.find((value) => value.error !== undefined)?.error,
    isDone,
    comments,
    deltas,
    content: (choice) =>
      deltas(choice)
        .map(({ content }) => content ?? '')
        .join(''),
    usages: chunks.flatMap(({ usage }) => (usage ? [usage] : [])),
  };
}
