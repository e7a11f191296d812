import type { Clock } from '#base/clock.ts';
import { checkCompletedControl } from '#contract/completed-control.ts';
import type { Call, Complete, Reply } from '#domain/call.ts';
import { pathTo } from '#domain/chain.ts';
import { keepsControls } from '#domain/deployment.ts';
import type { Directory } from '#domain/directory.ts';
import { estimatePromptTokens } from '#domain/estimate-tokens.ts';
import { prepareRequest } from '#domain/prepare-request.ts';
import { findAddons } from '#runtime/addons.ts';
import type { Admit } from './admit.ts';
import type { Answer } from './answer.ts';
import { count } from './count.ts';
import { find } from './find.ts';
import { InnerUsage } from './inner-usage.ts';
import { ReplyOrder } from './reply-order.ts';

export interface CompleteTools {
  readonly directory: () => Directory;
  readonly admit: Admit;
  readonly answer: Answer;
  readonly clock: Clock;
}

/** The way of every chat call: find → admit → answer → count. */
export function createComplete(tools: CompleteTools): Complete {
  return async (call: Call): Promise<Reply> => {
    const directory = tools.directory();
    const deployment = find(directory, call, 'chat');
    const path = pathTo(deployment, call.caller);
    const request = prepareRequest(call.read(), deployment);
    if (keepsControls(deployment)) checkCompletedControl(request.messages, true);
    if (request.addons !== undefined) findAddons(directory.configuration.addons, request.addons);
    const admission = await tools.admit({ caller: call.caller, deployment, directory });
    const inner = new InnerUsage();
    const order = new ReplyOrder({
      id: `chatcmpl-${call.id}`,
      createdSeconds: Math.floor(tools.clock.epochMs() / 1000),
      deployment: deployment.id,
      kind: deployment.kind,
      isStreamed: request.stream === true,
      choices: request.n ?? 1,
      promptTokens: estimatePromptTokens(request),
      innerUsage: () => inner.usage(),
    });
    const frames = tools.answer({ call, deployment, request, path, inner, directory });
    const counted = count(frames, { call, deployment, order, admission });
    return { headers: admission.headers, frames: counted, used: () => order.counts() };
  };
}
