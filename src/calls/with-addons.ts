import type { Clock } from '#base/clock.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { Frame } from '#contract/frame.ts';
import { type AddonTools, findAddons, type NamedAddon } from '#runtime/addons.ts';
import { runLoop } from '#runtime/loop.ts';
import { fanOut } from '#upstreams/with-choices.ts';
import { inToolForm } from '#upstreams/with-functions.ts';
import type { Answer } from './answer.ts';
import type { Answering } from './answering.ts';

export interface AddonDeps {
  readonly addonTools: (configuration: Configuration) => AddonTools;
  readonly clock: Clock;
  /** Hears of tool faults whose reason nobody is told. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** Gives a model the tools of the request's addons; Parley makes their calls (contract 5). An application runs its addons itself. Throws `unknown_addon`. */
export function withAddons(answer: Answer, parts: AddonDeps): Answer {
  return (answering) => {
    const { deployment, snapshot, request } = answering;
    if (request.addons === undefined) return answer(answering);
    const found = findAddons(snapshot.configuration.addons, request.addons);
    if (deployment.kind === 'application') return answer(answering);
    const { addons: _addons, ...bare } = request;
    if (found.length === 0) return answer({ ...answering, request: bare });
    const { n = 1, ...single } = bare;
    const run = (signal: AbortSignal): AsyncIterable<Frame> =>
      inToolForm(single, (inner) =>
        loop(answer, parts, { answering: { ...answering, call: { ...answering.call, signal }, request: inner }, found }),
      );
    return n === 1 ? run(answering.call.signal) : fanOut(n, answering.call.signal, run);
  };
}

interface Run {
  readonly answering: Answering;
  readonly found: readonly NamedAddon[];
}

async function* loop(
  answer: Answer,
  { addonTools, clock, noteFault }: AddonDeps,
  { answering, found }: Run,
): AsyncIterable<Frame> {
  const { call, deployment, snapshot, request } = answering;
  const { configuration } = snapshot;
  const { tools, missing } = await addonTools(configuration).load(found, call.signal);
  yield* runLoop({
    ask: (inner: ChatRequest) => answer({ ...answering, request: inner }),
    request,
    tools,
    missing,
    model: deployment.id,
    id: `chatcmpl-${call.id}`,
    clock,
    signal: call.signal,
    ...configuration.tools,
    onToolFault: (tool, thrown) => noteFault(`the tool ${tool} of an addon failed`, thrown),
  });
}
