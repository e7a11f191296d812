import type { Clock } from '#base/clock.ts';
import { checkCompletedControl } from '#contract/completed-control.ts';
import type { Call, Complete, Reply } from '#domain/call.ts';
import { keepsControls } from '#domain/deployments/deployment.ts';
import { prepareRequest } from '#domain/deployments/prepare-request.ts';
import { estimatePromptTokens } from '#domain/usage/estimate-tokens.ts';
import { Tally } from '#domain/usage/usage-sum.ts';
import { findAddons } from '#runtime/addons.ts';
import type { RunStates } from '#runtime/quick-app/run-state.ts';
import type { Answer } from './answer.ts';
import { count, wasAtWork } from './count.ts';
import { type EnterDeps, enter } from './enter.ts';
import { ReplyOrder } from './reply-order.ts';
import type { ReserveLimits } from './reserve-limits.ts';
import { openConversation } from './with-quick-apps.ts';

export interface CompleteDeps extends EnterDeps {
  readonly states: RunStates;
  readonly admit: ReserveLimits;
  readonly answer: Answer;
  readonly clock: Clock;
}

/** The way of every chat call: enter → admit → answer → count. */
export function createComplete(tools: CompleteDeps): Complete {
  return async (call: Call): Promise<Reply> => {
    const { snapshot, deployment, path } = await enter(tools, call, 'chat');
    const request = prepareRequest(call.read(deployment), deployment);
    if (keepsControls(deployment)) checkCompletedControl(request.messages);
    const conversation = openConversation(tools.states, { deployment, request, caller: call.caller });
    if (request.addons !== undefined) findAddons(snapshot.configuration.addons, request.addons);
    const reservation = await tools.admit({ caller: call.caller, deployment, snapshot });
    const inner = new Tally();
    const order = new ReplyOrder({
      id: `chatcmpl-${call.id}`,
      createdSeconds: Math.floor(tools.clock.epochMs() / 1000),
      deployment: deployment.id,
      kind: deployment.kind,
      isStreamed: request.stream === true,
      promptTokens: estimatePromptTokens(request),
      innerUsage: () => inner.items,
    });
    // Addons change the request, and an application is never sent another dialect than the compat wire.
    const given = call.native?.();
    const native = deployment.kind === 'model' && request.addons === undefined ? given : undefined;
    const frames = tools.answer({ call, deployment, request, native, path, inner, snapshot, conversation });
    const counted = count(frames, { call, deployment, order, reservation });
    return { headers: reservation.headers, frames: counted, used: () => (wasAtWork({ call, order }) ? order.counts() : []) };
  };
}
