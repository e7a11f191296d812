import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Chunk, Delta, Usage } from '#contract/chat/chunk.ts';
import type { ErrorBody } from '#contract/errors/error-body.ts';

/** The content of a complete stream. */
export interface StreamContent {
  /** Data of each event as text, without the end mark. */
  readonly data: readonly string[];
  /** Events that are chunks. */
  readonly chunks: readonly Chunk[];
  /** The error event, if any. */
  readonly error: ErrorBody | undefined;
  /** Whether the last event was the end mark. */
  readonly isDone: boolean;
  readonly comments: readonly string[];
  /** Returns the complete text of a choice. */
  content(choice?: number): string;
  deltas(choice?: number): Delta[];
  readonly usages: readonly Usage[];
}

/** Reads server-sent events from a response, one by one or all together. */
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

  /** Returns the data of the next event, or undefined at the end. Skips comments and records them. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const { done, value } = await this.#blocks.next();
      if (done) return undefined;
      const data = this.#accept(value);
      if (data !== undefined) return data;
    }
  }

  /** Returns the next comment. Skipped events remain available to `rest`. */
  async comment(): Promise<string | undefined> {
    for (;;) {
      const { done, value } = await this.#blocks.next();
      if (done) return undefined;
      if (this.#accept(value) === undefined) return this.comments.at(-1);
    }
  }

  /** Returns all events, starting with the first, after the stream has ended. Rejects if the connection breaks. */
  async readRest(): Promise<StreamContent> {
    while ((await this.next()) !== undefined);
    return toStreamed(this.#data, this.comments);
  }

  /** Disconnects. Returns the time of `performance.now`. */
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

function toStreamed(all: readonly string[], comments: readonly string[]): StreamContent {
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
