import type { ReplyHeaders } from '#base/http/client.ts';
import type { HttpReply } from '#base/http/read-reply.ts';
import { defaultJsonBounds, isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toEarlyFault, toUpstreamFault, unanswered } from './send.ts';

const maxRefusalBytes = 64 * 1024;

/** All bytes of a reply, as latin1 text, at once where they are there. Throws UpstreamFault, also where there are none, or more than `maxBytes`. */
export function readWhole(reply: HttpReply, maxBytes: number): string | Promise<string> {
  const whole = reply.body.takeWhole?.();
  return whole === undefined ? gather(reply.body, maxBytes) : checked(whole, maxBytes);
}

async function gather(body: AsyncIterable<string>, maxBytes: number): Promise<string> {
  let bytes = '';
  try {
    for await (const piece of body) bytes = checked(bytes + piece, maxBytes);
  } catch (thrown) {
    throw bytes === '' ? toEarlyFault(thrown) : toUpstreamFault(thrown);
  }
  return checked(bytes, maxBytes);
}

/** What a refusal says, as latin1 text; nothing where it cannot be had. */
export async function readRefusal(reply: HttpReply): Promise<string> {
  try {
    return await readWhole(reply, maxRefusalBytes);
  } catch {
    return '';
  }
}

function checked(bytes: string, maxBytes: number): string {
  if (bytes === '') throw unanswered();
  if (bytes.length > maxBytes) throw new UpstreamFault('broken', `The upstream's answer is larger than ${maxBytes} bytes.`);
  return bytes;
}

/** The JSON object that the bytes are. Throws UpstreamFault. */
export function toJsonObject(bytes: string, bounds = defaultJsonBounds): JsonObject {
  let value: unknown;
  try {
    value = parseJson(fromLatin1(bytes), bounds);
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
