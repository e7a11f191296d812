import type { HttpReply } from '#base/http/read-reply.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { One } from '#base/one.ts';
import { Frame } from '#contract/frame.ts';
import type { Relayed } from '#contract/messages/relayed.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';
import { readEvents } from '../read-events.ts';
import { readWhole, toJsonObject } from '../read-whole.ts';
import { MessageReader } from './message-reader.ts';
import { RelayedEvents } from './relayed-events.ts';
import { toCallerHeaders } from './to-caller-headers.ts';
import { toCompletion } from './to-completion.ts';
import { toRefusal } from './to-fault.ts';
import { toUsage } from './to-usage.ts';
import { TranslatedEvents } from './translated-events.ts';

const maxReplyBytes = 64 * 1024 * 1024;

/** The frames of a reply on the compat wire, streamed or in one JSON text. Throws UpstreamFault, also while they are read. */
export async function readTranslated(reply: HttpReply, createdSeconds: number, model: string): Promise<AsyncIterable<Frame>> {
  const whole = await readWholeUnlessStream(reply);
  if (whole !== undefined) return new One(Frame.ofCompletion(toCompletion(whole.value, createdSeconds, model)));
  return readEvents(reply.body, new TranslatedEvents(new MessageReader(createdSeconds, model)));
}

/** The same as it came, for a caller who speaks the dialect. */
export async function readRelayed(reply: HttpReply): Promise<AsyncIterable<Frame>> {
  const whole = await readWholeUnlessStream(reply);
  const headers = toCallerHeaders(reply.headers);
  if (whole === undefined) return readEvents(reply.body, new RelayedEvents(headers));
  const { bytes, value } = whole;
  const usage = isJsonObject(value.usage) ? toUsage(value.usage) : undefined;
  const relayed: Relayed = { dialect: 'messages', isWhole: true, isLast: true, textBytes: bytes.length, usage, headers };
  return new One(Frame.ofNative(bytes, relayed));
}

/** The tokens of a request, of a reply that tells nothing else. Throws UpstreamFault. */
export async function readCount(reply: HttpReply): Promise<number> {
  if (reply.status !== 200) throw await toRefusal(reply);
  const { input_tokens: tokens } = toJsonObject(await readWhole(reply, maxReplyBytes));
  if (typeof tokens !== 'number')
    throw new UpstreamFault('broken', 'The upstream answered with JSON that is no count of tokens.');
  return toCount(tokens);
}

async function readWholeUnlessStream(reply: HttpReply): Promise<{ bytes: string; value: JsonObject } | undefined> {
  if (reply.status !== 200) throw await toRefusal(reply);
  if (reply.headers['content-type']?.includes('text/event-stream')) return undefined;
  const bytes = await readWhole(reply, maxReplyBytes);
  const value = toJsonObject(bytes);
  if (!Array.isArray(value.content)) throw new UpstreamFault('broken', 'The upstream answered with JSON that is no message.');
  return { bytes, value };
}
