import { hash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Seal } from '#base/seal.ts';
import { requestFault } from '#contract/request-fault.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import { includables, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { ChatAsk, Target } from '#domain/call.ts';
import { toRecordId } from '#domain/callers/bound-key.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { speaksResponses } from '#domain/upstreams/responses-upstream.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';
import { estimateRequestTokens } from '#domain/usage/usage.ts';
import { AllowedCalls } from './allowed-calls.ts';
import { fitItems } from './fit-items.ts';
import { McpApprovals } from './mcp-approvals.ts';
import { toRemoteServers } from './mcp-servers.ts';
import type { OpenedResponse } from './response-keeper.ts';
import { ResponseRun } from './response-run.ts';
import { type SealedItem, ThoughtSeal, type Thoughts } from './sealed-thoughts.ts';
import { toChatRequest } from './to-chat-request.ts';
import type { Conversing } from './to-messages.ts';
import { isUntouched, toNativeRequest } from './to-native-request.ts';

const stateType = 'parley:state';

export interface RunDeps {
  readonly seal: Seal;
  readonly newId: () => string;
  readonly clock: Pick<Clock, 'epochMs'>;
}

/**
 * Names the fields that the upstream did not receive. `isRelayed` is whether it received the original request. By default, Parley
 * assumes this if every upstream receives it.
 */
export type Ignored = (isRelayed?: boolean) => readonly string[];

/** A response that is ready to be answered, by whoever reads it. */
export interface ReadyRun {
  readonly run: ResponseRun;
  /** What `Calls.answer` is asked. */
  readonly ask: ChatAsk;
  /**
   * Returns the names of the fields that the upstream did not receive. A relayed request keeps the fields that a translation
   * leaves out.
   */
  readonly ignored: Ignored;
  /** Seals something for the caller. */
  readonly sealFor: (thoughts: Thoughts) => string;
}

interface Creating {
  readonly request: ResponsesRequest;
  /** The same as it came. */
  readonly body: JsonObject;
  readonly opened: OpenedResponse;
  /** Whether the request is only counted: a count has no bound. */
  readonly isCounted?: true;
  /** Of a response that was promised before; absent: it is a new one. */
  readonly known?: { readonly id: string; readonly createdAtSeconds: number };
}

/** Throws the 400 that the request deserves. */
export function createRun({ seal, newId, clock }: RunDeps, target: Target, creating: Creating): ReadyRun {
  const { request, body, opened, known, isCounted } = creating;
  const { call, deployment } = target;
  const { subject } = call.caller;
  const thoughts = new ThoughtSeal(seal, subject, deployment);
  const omitted = new Set<string>();
  const earlier = opened.earlier.filter((item) => !isForeignState(item, deployment));
  if (earlier.length < opened.earlier.length) omitted.add('state');
  const all = [...earlier, ...opened.input];
  const shift = earlier.length;
  const places = new Map(all.map((item, index) => [item, index]));
  const pathOf = (item: AnyItem): string => {
    const place = places.get(item) ?? 0;
    return place < shift ? 'previous_response_id' : `input[${place - shift}]`;
  };
  const { mcpServers: hosts } = target.snapshot.configuration.responses;
  const servers = toRemoteServers(request, { hosts, items: all, pathOf });
  const approvals = new McpApprovals(all, { shift, pathOf });
  const conversing = {
    open(item: SealedItem, at: string): Thoughts {
      const content = thoughts.open(item, at);
      if (content === undefined) omitted.add(includables.encryptedReasoning);
      return content ?? {};
    },
    pathOf,
    // Tools that are run here are run between turns of the model, which are asked in the inner language.
    isNative: servers.length === 0 && isNative(deployment),
    approvals,
  };
  const translate = (items: readonly AnyItem[]) => toChatRequest({ request, items, ...conversing });
  const items = fitItems(all, {
    maxTokens: isCounted ? undefined : maxPromptTokensOf(deployment, request),
    mayDrop: request.truncation === 'auto',
    tokensOf: (some) => estimateRequestTokens(translate(some).request),
  });
  const translated = translate(items);
  if (items.length === 0 && translated.request.messages.length === 0) throw requestFault('input', 'must have at least one item');
  const isPlain = items === all && shift === 0 && opened.input === request.input && isUntouched(request, items);
  const run = new ResponseRun({
    id: known?.id ?? toRecordId('resp', call.caller, newId()),
    createdAtSeconds: known?.createdAtSeconds ?? Math.floor(clock.epochMs() / 1000),
    request,
    model: call.deployment,
    isStored: opened.isStored,
    isBackground: request.background === true,
    conversation: opened.conversation,
    tools: translated.tools,
    allowedCalls: AllowedCalls.of(request, translated.tools),
    deployment: deployment.id,
    seal: (given) => thoughts.close(given),
    showsSealed: request.include?.includes(includables.encryptedReasoning) === true,
    isUntouched: isPlain,
    runsRemoteTools: servers.length > 0,
    clock,
    began: (response) => opened.began(response),
    ended: (kept) => opened.ended(kept),
  });
  const isAlwaysRelayed = conversing.isNative && deployment.upstreams.every(speaksResponses);
  const native = conversing.isNative ? toNative(body, isPlain ? undefined : { ...conversing, items }) : undefined;
  // The events of a run in the background are stored. Only a stream shows the order of an application's stages and text.
  const isStreamed = request.background === true || (deployment.isServedByPrograms && includesStages(request));
  const asked = isStreamed ? { ...translated.request, stream: true } : translated.request;
  const approved = approvals.approved(servers, asked.messages);
  const remote = servers.length > 0 ? { servers, approved } : undefined;
  const ask = { request: asked, native, remote, affinity: affinityOf(request, subject) };
  return {
    run,
    ask,
    ignored: (isRelayed = isAlwaysRelayed) => (isRelayed ? [...omitted] : [...translated.ignored, ...omitted]),
    sealFor: (given) => thoughts.close(given),
  };
}

function includesStages({ include = [] }: ResponsesRequest): boolean {
  return include.includes(includables.stages);
}

/** Whether an item is the state that another deployment gave. */
function isForeignState(item: AnyItem, { id }: Deployment): boolean {
  return item.type === stateType && (item as JsonObject).deployment !== undefined && (item as JsonObject).deployment !== id;
}

/** Of what the model takes in all, what the answer may have is not for the request. */
function maxPromptTokensOf({ limits }: Deployment, { max_output_tokens: output = 0 }: ResponsesRequest): number | undefined {
  const { maxPromptTokens, maxTotalTokens } = limits ?? {};
  const ofTotal = maxTotalTokens === undefined ? undefined : Math.max(0, maxTotalTokens - output);
  return maxPromptTokens === undefined || ofTotal === undefined
    ? (maxPromptTokens ?? ofTotal)
    : Math.min(maxPromptTokens, ofTotal);
}

/** Whether one of the upstreams speaks the dialect. */
function isNative({ kind, upstreams }: Deployment): boolean {
  return kind === 'model' && upstreams.some(speaksResponses);
}

/** `resolved` is what the body stands for, unless it can go as it is. */
function toNative(
  body: JsonObject,
  resolved: (Omit<Conversing, 'tools'> & { items: readonly AnyItem[] }) | undefined,
): NativeRequest {
  return { dialect: 'responses', body: resolved === undefined ? body : toNativeRequest(body, resolved), headers: {} };
}

/** A conversation that names its cache stays with one upstream. */
function affinityOf({ prompt_cache_key: key }: ResponsesRequest, subject: string): string | undefined {
  return key === undefined ? undefined : hash('sha256', JSON.stringify([subject, key]), 'base64url');
}
