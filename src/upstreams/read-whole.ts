import type { ReplyHeaders } from '#base/http/client.ts';
import type { HttpReply } from '#base/http/read-reply.ts';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { toUpstreamFault } from './send.ts';

const maxRefusalBytes = 64 * 1024;

/** All bytes of a reply, as latin1 text, at once where they are there. Throws UpstreamFault, also above `maxBytes`. */
export function readWhole(reply: HttpReply, maxBytes: number): string | Promise<string> {
  const whole = reply.body.takeWhole?.();
  return whole === undefined ? gather(reply.body, maxBytes) : withinBound(whole, maxBytes);
}

async function gather(body: AsyncIterable<string>, maxBytes: number): Promise<string> {
  let bytes = '';
  try {
    for await (const piece of body) bytes = withinBound(bytes + piece, maxBytes);
  } catch (thrown) {
    throw toUpstreamFault(thrown);
  }
  return bytes;
}

/** What a refusal says, as latin1 text; nothing where it cannot be had. */
export async function readRefusal(reply: HttpReply): Promise<string> {
  try {
    return await readWhole(reply, maxRefusalBytes);
  } catch {
    return '';
  }
}

function withinBound(bytes: string, maxBytes: number): string {
  if (bytes.length <= maxBytes) return bytes;
  throw new UpstreamFault('broken', `The upstream's answer is larger than ${maxBytes} bytes.`);
}

/** The JSON object that the bytes are. Throws UpstreamFault. */
export function toJsonObject(bytes: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(fromLatin1(bytes));
  } catch (cause) {
    throw new UpstreamFault('broken', 'The upstream answered with what is not JSON.', { cause });
  }
  if (!isJsonObject(value)) throw new UpstreamFault('broken', 'The upstream answered with JSON that is not an object.');
  return value;
}

/** Seconds of a Retry-After field; a date counts from the date of the reply (RFC 9110, 10.2.3). */
export function retryAfterOf(headers: ReplyHeaders): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(value.trim())) return Math.ceil(Number(value));
  const seconds = Math.ceil((Date.parse(value) - Date.parse(headers.date ?? '')) / 1000);
  return seconds >= 0 ? seconds : undefined;
}

/** Whether an upstream's words say anything: some send an error without. */
export function isSaid(words: unknown): words is string {
  return typeof words === 'string' && words.trim() !== '';
}
