import type { HttpReply } from '#base/http/read-reply.ts';
import { isJsonObject, type JsonObject, parseJson, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import type { Completion } from '#contract/chunk.ts';
import { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { readEvents } from './read-events.ts';
import { toUpstreamFault } from './send.ts';

const maxReplyBytes = 64 * 1024 * 1024;
const maxRefusalBytes = 64 * 1024;

/** The frames of a chat reply, streamed or in one JSON text. Throws UpstreamFault, also while they are read. */
export async function readChatReply(reply: HttpReply): Promise<AsyncIterable<Frame>> {
  if (reply.status !== 200) throw await toRefusal(reply);
  if (reply.headers['content-type']?.includes('text/event-stream')) return readEvents(reply.body);
  const bytes = await readBytes(reply, maxReplyBytes);
  const completion = toObject(bytes);
  if (!Array.isArray(completion.choices) || !completion.choices.every(isJsonObject))
    throw new UpstreamFault('broken', 'The upstream answered with JSON that is no chat completion.');
  return only(Frame.ofCompletion(completion as Completion, bytes));
}

async function* only(frame: Frame): AsyncIterable<Frame> {
  yield frame;
}

/** The JSON object of a reply. Throws UpstreamFault. */
export async function readJsonReply(reply: HttpReply): Promise<JsonObject> {
  if (reply.status !== 200) throw await toRefusal(reply);
  return toObject(await readBytes(reply, maxReplyBytes));
}

async function toRefusal(reply: HttpReply): Promise<UpstreamFault> {
  const text = fromLatin1(await readBytes(reply, maxRefusalBytes).catch(() => ''));
  const value = tryParseJson(text);
  const error = isJsonObject(value) ? (value.error ?? value) : {};
  const { message, param, code } = isJsonObject(error) ? error : { message: error };
  const retryAfterSeconds = toSeconds(reply.headers['retry-after'], reply.headers.date);
  return new UpstreamFault('refused', typeof message === 'string' ? message : `The upstream answered ${reply.status}.`, {
    status: reply.status,
    param: typeof param === 'string' ? param : null,
    code: typeof code === 'string' ? code : null,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Seconds of a Retry-After header; a date counts from the date of the reply (RFC 9110, 10.2.3). */
function toSeconds(header: string | undefined, replied: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header));
  const seconds = Math.ceil((Date.parse(header) - Date.parse(replied ?? '')) / 1000);
  return seconds >= 0 ? seconds : undefined;
}

function toObject(bytes: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(fromLatin1(bytes));
  } catch (cause) {
    throw new UpstreamFault('broken', 'The upstream answered with what is not JSON.', { cause });
  }
  if (!isJsonObject(value)) throw new UpstreamFault('broken', 'The upstream answered with JSON that is not an object.');
  return value;
}

async function readBytes(reply: HttpReply, maxBytes: number): Promise<string> {
  let bytes = '';
  try {
    for await (const piece of reply.body) {
      bytes += piece;
      if (bytes.length > maxBytes) throw new UpstreamFault('broken', `The upstream's answer is larger than ${maxBytes} bytes.`);
    }
  } catch (thrown) {
    throw toUpstreamFault(thrown);
  }
  return bytes;
}
