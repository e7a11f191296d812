import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpClient } from '#base/http/client.ts';
import { Recording, sleep, toPost, waitUntil } from './support.ts';

const pauseMs = 200;
const piece = 'x'.repeat(65_536);

/** Answers with a number of bytes, at the rate of the reader. */
export class Flood {
  readonly totalBytes: number;
  sentBytes = 0;

  constructor(totalBytes: number) {
    this.totalBytes = totalBytes;
  }

  readonly answer = (_request: IncomingMessage, response: ServerResponse): void => {
    const more = (): void => {
      while (this.sentBytes < this.totalBytes) {
        this.sentBytes += piece.length;
        if (!response.write(piece)) return;
      }
      response.end();
    };
    response.on('drain', more);
    more();
  };
}

/**
 * Pauses at the headers, then reads the reply to its end. Returns the received and sent bytes at the end of the pause, and the
 * total.
 */
export async function readSlowly(client: HttpClient, url: string, flood: Flood) {
  const recording = new Recording();
  let receivedBytes = 0;
  const exchange = client.send(toPost(url, ''), recording);
  recording.onHead = () => exchange.pause();
  recording.onBytes = (text) => {
    receivedBytes += text.length;
    recording.pieces.length = 0;
  };
  await waitUntil(() => recording.calls.length > 0);
  await sleep(pauseMs);
  const paused = { gotBytes: receivedBytes, sentBytes: flood.sentBytes };
  exchange.resume();
  const { error } = await recording.settled;
  return { paused, fault: error, gotBytes: receivedBytes };
}
