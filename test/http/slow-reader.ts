import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpClient } from '#base/http/client.ts';
import { later, Recording, toPost, until } from './support.ts';

const pauseMs = 200;
const piece = 'x'.repeat(65_536);

/** Answers with so many bytes, as fast as they are taken. */
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

/** Pauses at the head for a while, then hears the reply to its end. Gives what had come and gone while it was paused, and all that came. */
export async function readSlowly(client: HttpClient, url: string, flood: Flood) {
  const heard = new Recording();
  let gotBytes = 0;
  const exchange = client.send(toPost(url, ''), heard);
  heard.onHead = () => exchange.pause();
  heard.onBytes = (text) => {
    gotBytes += text.length;
    heard.pieces.length = 0;
  };
  await until(() => heard.calls.length > 0);
  await later(pauseMs);
  const paused = { gotBytes, sentBytes: flood.sentBytes };
  exchange.resume();
  const { fault } = await heard.settled;
  return { paused, fault, gotBytes };
}
