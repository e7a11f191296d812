import { ParleyError } from '#contract/errors.ts';
import type { CountTokens } from '#domain/call.ts';
import { prepareRequest } from '#domain/deployments/prepare-request.ts';
import { estimatePromptTokens, estimateTokens } from '#domain/usage/estimate-tokens.ts';
import { type AnswerDeps, protocolOf, sentOn } from './answer.ts';
import { attempt } from './attempts.ts';
import { type EnterDeps, enter } from './enter.ts';

/** Tokens of a request: asked of an upstream that counts in the caller's dialect, else estimated. It is no use of the deployment: nothing is charged. */
export function createCountTokens(tools: AnswerDeps & EnterDeps): CountTokens {
  return async (call) => {
    const { deployment } = await enter(tools, call, 'chat');
    const request = prepareRequest(call.read(deployment), deployment);
    const native = call.native?.();
    const upstreams = deployment.upstreams.filter(({ protocol }) => tools.protocols[protocol]?.countTokens !== undefined);
    if (native === undefined || upstreams.length === 0)
      return (
        estimatePromptTokens(request) + estimateTokens(request.tools === undefined ? 0 : JSON.stringify(request.tools).length)
      );
    const { signal } = call;
    const attempting = { deployment: { ...deployment, upstreams }, signal, record: call.record };
    const { result, record } = await attempt(tools, attempting, (upstream, { trace }) => {
      const { countTokens } = protocolOf(tools, upstream);
      if (countTokens === undefined) throw new ParleyError('internal_error', 'An upstream that counts no tokens was asked to.');
      return countTokens({ upstream, request, signal, headers: sentOn(call.id, trace), native });
    });
    record.end('ok', tools.clock.nowMs());
    return result;
  };
}
