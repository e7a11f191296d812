import { hash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Seal } from '#base/seal.ts';
import { requestFault } from '#contract/request-fault.ts';
import { includables, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { ChatAsk, Target } from '#domain/call.ts';
import type { OpenedResponse } from './response-keeper.ts';
import { ResponseRun } from './response-run.ts';
import { ThoughtSeal } from './sealed-thoughts.ts';
import { toChatRequest } from './to-chat-request.ts';

export interface RunDeps {
  readonly seal: Seal;
  readonly newId: () => string;
  readonly clock: Pick<Clock, 'epochMs'>;
}

/** A response that is ready to be answered, by whoever reads it. */
export interface ReadyRun {
  readonly run: ResponseRun;
  /** What `Calls.answer` is asked. */
  readonly ask: ChatAsk;
  /** Names of fields that the translation left out. */
  readonly ignored: readonly string[];
}

interface Creating {
  readonly request: ResponsesRequest;
  readonly opened: OpenedResponse;
  /** Of a response that was promised before; absent: it is a new one. */
  readonly known?: { readonly id: string; readonly createdAtSeconds: number };
}

/** Throws the 400 that the request deserves. */
export function createRun({ seal, newId, clock }: RunDeps, target: Target, { request, opened, known }: Creating): ReadyRun {
  const { call, deployment } = target;
  const { subject } = call.caller;
  const thoughts = new ThoughtSeal(seal, subject, deployment);
  const items = [...opened.earlier, ...opened.input];
  const shift = opened.earlier.length;
  const pathOf = (index: number): string => (index < shift ? 'previous_response_id' : `input[${index - shift}]`);
  const open = (sealed: string, at: string) => thoughts.open(sealed, at);
  const translated = toChatRequest({ request, items, open, pathOf });
  if (translated.request.messages.length === 0) throw requestFault('input', 'must have at least one item');
  const isIncluded = request.include?.includes(includables.encryptedReasoning) === true;
  const run = new ResponseRun({
    id: known?.id ?? `resp_${newId().replaceAll('-', '')}`,
    createdAtSeconds: known?.createdAtSeconds ?? Math.floor(clock.epochMs() / 1000),
    request,
    model: call.deployment,
    isStored: opened.isStored,
    isBackground: request.background === true,
    conversation: opened.conversation,
    tools: translated.tools,
    seal: (given) => thoughts.close(given),
    showsSealed: isIncluded,
    clock,
    began: (response) => opened.began(response),
    ended: (kept) => opened.ended(kept),
  });
  return { run, ask: { request: translated.request, affinity: affinityOf(request, subject) }, ignored: translated.ignored };
}

/** A conversation that names its cache stays with one upstream. */
function affinityOf({ prompt_cache_key: key }: ResponsesRequest, subject: string): string | undefined {
  return key === undefined ? undefined : hash('sha256', JSON.stringify([subject, key]), 'base64url');
}
