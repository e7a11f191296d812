import type { ReplyHeaders } from '#base/http/client.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { Frame } from '#contract/frame.ts';
import type { Relayed } from '#contract/messages/relayed.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';
import { faultIn } from '../error-in-reply.ts';
import { toJsonObject } from '../reply-text.ts';
import type { ReplyDialect } from '../upstream-reply.ts';
import { faultOfEnd } from './event-value.ts';
import { MessageReader } from './message-reader.ts';
import { RelayedEvents } from './relayed-events.ts';
import { toCompletion } from './to-completion.ts';
import { readRefusal } from './to-fault.ts';
import { toUsage } from './to-usage.ts';
import { TranslatedEvents } from './translated-events.ts';

const limitName = /^anthropic-(?:ratelimit|priority)-[a-z0-9-]{1,64}$/;
const limitValue = /^[\x20-\x7e]{1,200}$/;
const requestId = /^[\w.-]{1,128}$/;

/** A reply as frames of the compat wire. */
export function translatedReply(createdSeconds: number, model: string): ReplyDialect {
  return {
    readEvents: () => new TranslatedEvents(new MessageReader(createdSeconds, model)),
    readWhole: (bytes) => Frame.ofCompletion(toCompletion(toMessage(bytes), createdSeconds, model)),
    readRefusal,
  };
}

/** The same as it came, for a caller who speaks the dialect. */
export const relayedReply: ReplyDialect = {
  readEvents: (headers) => new RelayedEvents(toCallerHeaders(headers)),
  readWhole(bytes, headers) {
    const { usage: told } = toMessage(bytes);
    const usage = isJsonObject(told) ? toUsage(told) : undefined;
    const relayed: Relayed = {
      ...{ dialect: 'messages', isWhole: true, isLast: true, textBytes: bytes.length, usage },
      headers: toCallerHeaders(headers),
    };
    return Frame.ofNative(bytes, relayed);
  },
  readRefusal,
};

/** The tokens of a request, of a reply that has nothing else. */
export const countReply: ReplyDialect<number> = {
  readWhole(bytes) {
    const { input_tokens: tokens } = toJsonObject(bytes);
    if (typeof tokens === 'number') return toCount(tokens);
    throw new UpstreamFault('broken', 'The upstream answered with JSON that is no count of tokens.');
  },
  readRefusal,
};

function toMessage(bytes: string): JsonObject {
  const value = toJsonObject(bytes);
  const fault = faultIn(value) ?? faultOfEnd(value);
  if (fault !== undefined) throw fault;
  if (Array.isArray(value.content)) return value;
  throw new UpstreamFault('broken', 'The upstream answered with JSON that is no message.');
}

/** The header fields of a reply that its caller gets: what is left of its upstream's limits, and the upstream's id of the request. */
function toCallerHeaders(headers: ReplyHeaders): Record<string, string> {
  const { 'request-id': id } = headers;
  const limits = Object.entries(headers).filter(([name, value]) => limitName.test(name) && limitValue.test(value));
  return { ...Object.fromEntries(limits), ...(id !== undefined && requestId.test(id) && { 'request-id': id }) };
}
