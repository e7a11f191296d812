import { isJsonObject, type JsonObject } from '#base/json.ts';
import { Accumulator } from '#contract/accumulate.ts';
import type { Completion } from '#contract/chunk.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { MessageReader } from './message-reader.ts';

/** A whole reply of the dialect as the completion that its stream would fold to. Throws UpstreamFault if it is none. */
export function toCompletion(reply: JsonObject, createdSeconds: number, model: string): Completion {
  const { content, stop_reason, stop_details, usage } = reply;
  if (!Array.isArray(content) || !content.every(isJsonObject))
    throw new UpstreamFault('broken', 'The upstream answered with JSON that is no message.');
  const reader = new MessageReader(createdSeconds, model);
  const folded = new Accumulator();
  const take = (event: JsonObject): void => {
    for (const chunk of reader.take(event)) folded.add(chunk);
  };
  take({ type: 'message_start', message: reply });
  content.forEach((block: JsonObject, index) => {
    take({ type: 'content_block_start', index, content_block: block });
    for (const citation of Array.isArray(block.citations) ? block.citations : [])
      take({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } });
    take({ type: 'content_block_stop', index });
  });
  take({ type: 'message_delta', delta: { stop_reason, stop_details }, usage });
  take({ type: 'message_stop' });
  return folded.completion();
}
