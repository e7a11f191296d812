import type { HttpReply } from '#base/http/read-reply.ts';
import { defaultJsonBounds, isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import { One } from '#base/one.ts';
import type { Completion } from '#contract/chunk.ts';
import { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { readEvents } from '../read-events.ts';
import { readRefusal, readWhole, retryAfterOf, toJsonObject } from '../read-whole.ts';
import { ChatEvents } from './chat-events.ts';
import { tellsOfError, toErrorFault, toSaid } from './to-fault.ts';

const maxReplyBytes = 64 * 1024 * 1024;
/** Thousands of vectors of thousands of numbers. */
const embeddingBounds = { ...defaultJsonBounds, maxNodes: 10_000_000 };

/** The frames of a chat reply, streamed or in one JSON text, at once where they can be had. Throws UpstreamFault, also while they are read. */
export function readChatReply(reply: HttpReply): AsyncIterable<Frame> | Promise<AsyncIterable<Frame>> {
  if (reply.status !== 200) return refuse(reply);
  if (reply.headers['content-type']?.includes('text/event-stream')) return readEvents(reply.body, new ChatEvents());
  const bytes = readWhole(reply, maxReplyBytes);
  return typeof bytes === 'string' ? toWhole(bytes) : bytes.then(toWhole);
}

async function refuse(reply: HttpReply): Promise<never> {
  throw await toRefusal(reply);
}

function toWhole(bytes: string): One<Frame> {
  const completion = toJsonObject(bytes);
  if (tellsOfError(completion)) throw toErrorFault(completion);
  if (!Array.isArray(completion.choices) || !completion.choices.every(isJsonObject))
    throw new UpstreamFault('broken', 'The upstream answered with JSON that is no chat completion.');
  return new One(Frame.ofCompletion(completion as Completion, bytes));
}

/** The JSON object of a reply with embeddings. Throws UpstreamFault. */
export async function readEmbeddingsReply(reply: HttpReply): Promise<JsonObject> {
  if (reply.status !== 200) throw await toRefusal(reply);
  return toJsonObject(await readWhole(reply, maxReplyBytes), embeddingBounds);
}

async function toRefusal(reply: HttpReply): Promise<UpstreamFault> {
  const text = fromLatin1(await readRefusal(reply));
  const { message = `The upstream answered ${reply.status}.`, param, code } = toSaid(tryParseJson(text));
  const retryAfterSeconds = retryAfterOf(reply.headers);
  return new UpstreamFault('refused', message, {
    status: reply.status,
    ...{ param, code },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
