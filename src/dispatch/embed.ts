import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ModelUsage } from '#contract/chunk.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Embed, EmbeddingsCall, EmbeddingsReply } from '#domain/call.ts';
import { pathTo } from '#domain/chain.ts';
import type { Directory } from '#domain/directory.ts';
import { type AnswerTools, protocolOf, sentOn } from './answer.ts';
import { attempt } from './attempts.ts';
import { find } from './find.ts';

/** The way of every embeddings call: find → admit → answer → count. */
export function createEmbed(tools: AnswerTools & { readonly directory: () => Directory }): Embed {
  return async (call: EmbeddingsCall): Promise<EmbeddingsReply> => {
    const deployment = find(tools.directory(), call, 'embedding');
    pathTo(deployment, call.caller);
    const request = { ...deployment.defaults, ...call.read() };
    const { signal } = call;
    const { result, record } = await attempt(tools, { deployment, signal, record: call.record }, (upstream, { trace }) => {
      const { embed } = protocolOf(tools, upstream);
      if (embed === undefined)
        throw new ParleyError('operation_not_supported', `The upstream of ${deployment.id} makes no embeddings.`);
      return embed({ upstream, request, signal, headers: sentOn(call.id, trace) });
    });
    record.end('ok', tools.clock.nowMs());
    const used = [toUsed(deployment.id, result)];
    call.caller.chain?.report(used);
    return { headers: {}, body: result, used };
  };
}

function toUsed(deployment: string, { usage }: JsonObject): ModelUsage {
  const tokens = isJsonObject(usage) && typeof usage.prompt_tokens === 'number' ? usage.prompt_tokens : 0;
  return { index: 0, model: deployment, name: deployment, prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens };
}
