import { hash } from 'node:crypto';
import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import { includeValues, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { toRecordId } from '#domain/callers/bound-key.ts';
import type { Target } from '#domain/calls/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { type NativeRequest, speaksResponses, UpstreamError } from '#domain/upstreams/upstream.ts';
import { estimateRequestTokens } from '#domain/usage/usage.ts';
import type { PreparedResponse, ResponseStart } from '#services/responses/background-runs.ts';
import { ResponseRun } from './response-run.ts';
import { McpApprovals, toMcpName, toRemoteServers } from './translation/mcp-servers.ts';
import { AllowedCalls } from './translation/offered-tools.ts';
import { type HiddenContent, isSealed, type SealedItem, ThoughtSeal } from './translation/sealed-thoughts.ts';
import { type ResolvedRequest, toChatRequest } from './translation/to-chat-request.ts';
import type { TranslationContext } from './translation/to-messages.ts';

export interface RunDeps {
  readonly seal: Seal;
  readonly newId: () => string;
  readonly clock: Pick<Clock, 'epochMs'>;
}

/**
 * Returns the names of the fields that the upstream did not receive. A relayed request keeps the fields that a translation omits.
 * `isRelayed` is whether the upstream received the original request. Default: true if every upstream receives the original.
 */
export type ListIgnoredFields = (isRelayed?: boolean) => readonly string[];

/** A response whose run can start. */
export interface ReadyRun extends PreparedResponse {
  readonly translation: ResponseRun;
  readonly listIgnoredFields: ListIgnoredFields;
  /** Seals content for the caller. */
  readonly seal: (thoughts: HiddenContent) => string;
}

interface RunStart extends ResponseStart {
  /** Whether only the tokens of the request are counted. If so, the request has no token limit. */
  readonly isCounted?: true;
}

/** Prepares the run of a response. Throws a 400 error if the request is invalid. */
export function createRun(deps: RunDeps, target: Target, start: RunStart): ReadyRun {
  const { request, body, opened, existing, isCounted } = start;
  const { call, deployment } = target;
  const { subject } = call.caller;
  if (request.store === false) call.record.isPrivate = true;
  const thoughtSeal = new ThoughtSeal(deps.seal, subject, deployment);
  const seal = (thoughts: HiddenContent): string => thoughtSeal.close(thoughts);
  const omitted = new Set<string>();
  const earlier = opened.earlierItems.filter((item) => !isForeignState(item, deployment));
  if (earlier.length < opened.earlierItems.length) omitted.add('state');
  const allItems = [...earlier, ...opened.input];
  const earlierCount = earlier.length;
  const positions = new Map(allItems.map((item, index) => [item, index]));
  const getPath = (item: AnyItem): string => {
    const position = positions.get(item) ?? 0;
    return position < earlierCount ? 'previous_response_id' : `input[${position - earlierCount}]`;
  };
  const { mcpServers: hosts } = target.snapshot.configuration.responses;
  const servers = toRemoteServers(request, { hosts, items: allItems, getPath });
  const approvals = new McpApprovals(allItems, { earlierCount, getPath });
  const context = {
    open(item: SealedItem, path: string): HiddenContent {
      const content = thoughtSeal.open(item, path);
      if (content === undefined) omitted.add(includeValues.encryptedReasoning);
      return content ?? {};
    },
    getPath,
    // A relayed request cannot run tools between the turns of the model, so requests with MCP servers are translated.
    mayBeRelayed: servers.length === 0 && hasResponsesUpstream(deployment),
    approvals,
  };
  const translate = (items: readonly AnyItem[]) => toChatRequest({ request, items, ...context });
  const items = fitItems(allItems, {
    maxTokens: isCounted ? undefined : getMaxPromptTokens(deployment, request),
    canTruncate: request.truncation === 'auto',
    countTokens: (items) => estimateRequestTokens(translate(items).request),
  });
  const translated = translate(items);
  if (items.length === 0 && translated.request.messages.length === 0)
    throw createRequestError('input', 'must have at least one item');
  const isPlain = items === allItems && earlierCount === 0 && opened.input === request.input && canForwardBody(request, items);
  const run = new ResponseRun({
    id: existing?.id ?? toRecordId('resp', call.caller, deps.newId()),
    createdAtSeconds: existing?.createdAtSeconds ?? Math.floor(deps.clock.epochMs() / 1000),
    request,
    model: call.deployment,
    shouldStore: opened.shouldStore,
    isBackground: request.background === true,
    conversation: opened.conversation,
    tools: translated.tools,
    allowedCalls: AllowedCalls.create(request, translated.tools),
    deployment: deployment.id,
    seal,
    showsSealed: request.include?.includes(includeValues.encryptedReasoning) === true,
    isForwardedUnchanged: isPlain,
    runsRemoteTools: servers.length > 0,
    clock: deps.clock,
    onStart: (response) => opened.onStarted(response),
    onEnd: (storedResponse) => opened.onEnded(storedResponse),
  });
  const isAlwaysRelayed = context.mayBeRelayed && deployment.upstreams.every(speaksResponses);
  const nativeRequest: NativeRequest | undefined = context.mayBeRelayed
    ? {
        dialect: 'responses',
        body: isPlain ? body : toNativeRequest(body, { ...context, items }),
        headers: {},
        translationError: isAlwaysRelayed || isCounted ? undefined : findTranslationError({ request, items, ...context }),
      }
    : undefined;
  // The events of a background run are stored. Only a stream shows the order of an application's stages and text.
  const isStreamed =
    request.background === true || (deployment.isApplicationBacked && request.include?.includes(includeValues.stages) === true);
  const chatRequest = isStreamed ? { ...translated.request, stream: true } : translated.request;
  const approvedCalls = approvals.listApprovedCalls(servers, chatRequest.messages);
  const remote = servers.length > 0 ? { servers, approvedCalls } : undefined;
  const chatCall = { request: chatRequest, nativeRequest, isTranslated: true, remote, affinity: getAffinity(request, subject) };
  return {
    translation: run,
    input: chatCall,
    listIgnoredFields: (isRelayed = isAlwaysRelayed) => (isRelayed ? [...omitted] : [...translated.ignored, ...omitted]),
    seal,
  };
}

/**
 * Returns the error with which an upstream without the Responses API rejects the request. Undefined if the translation omits only
 * optional content, such as hosted tools that the model need not call.
 */
function findTranslationError(resolved: ResolvedRequest): UpstreamError | undefined {
  try {
    toChatRequest({ ...resolved, mayBeRelayed: false });
    return undefined;
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return new UpstreamError('refused', error.message, { status: error.status, param: error.param });
  }
}

/** Returns whether the item is the state of another deployment. */
function isForeignState(item: AnyItem, { id }: Deployment): boolean {
  return item.type === 'parley:state' && (item as JsonObject).deployment !== undefined && (item as JsonObject).deployment !== id;
}

/** Returns the maximum number of prompt tokens. The requested output is subtracted from the total limit. */
function getMaxPromptTokens({ limits }: Deployment, { max_output_tokens: output = 0 }: ResponsesRequest): number | undefined {
  const { maxPromptTokens, maxTotalTokens } = limits ?? {};
  const maxFromTotal = maxTotalTokens === undefined ? undefined : Math.max(0, maxTotalTokens - output);
  return maxPromptTokens === undefined || maxFromTotal === undefined
    ? (maxPromptTokens ?? maxFromTotal)
    : Math.min(maxPromptTokens, maxFromTotal);
}

/** Returns whether one of the upstreams supports the Responses API. */
function hasResponsesUpstream({ kind, upstreams }: Deployment): boolean {
  return kind === 'model' && upstreams.some(speaksResponses);
}

/** Returns the key that assigns a conversation with `prompt_cache_key` to one upstream. */
function getAffinity({ prompt_cache_key: key }: ResponsesRequest, subject: string): string | undefined {
  return key === undefined ? undefined : hash('sha256', JSON.stringify([subject, key]), 'base64url');
}

/** Limits and size of a conversation. */
interface ConversationLimits {
  /** Maximum number of tokens of a request. Undefined if unknown. */
  readonly maxTokens: number | undefined;
  /** Whether the oldest items may be dropped. */
  readonly canTruncate: boolean;
  /** Estimates the tokens of a request with these items. */
  readonly countTokens: (items: readonly AnyItem[]) => number;
}

/**
 * Returns the items that fit the model. Drops the oldest items, but not instructions, a call without its output, or reasoning
 * without the item that follows it. Throws `context_length_exceeded`.
 */
function fitItems(items: readonly AnyItem[], { maxTokens, canTruncate, countTokens }: ConversationLimits): readonly AnyItem[] {
  if (maxTokens === undefined) return items;
  const tokens = countTokens(items);
  if (tokens <= maxTokens) return items;
  const dropBefore = (start: number): AnyItem[] => items.filter((item, index) => index >= start || isRequired(item));
  const fits = (start: number): boolean => countTokens(dropBefore(start)) <= maxTokens;
  const start = canTruncate ? findFirst(listStarts(items), fits) : undefined;
  if (start !== undefined) return dropBefore(start);
  const suggestion = canTruncate ? 'Its last item alone is too long' : 'Shorten the input, or set truncation to "auto"';
  throw new ParleyError(
    'context_length_exceeded',
    `The input has about ${tokens} tokens, but the model accepts at most ${maxTokens}. ${suggestion}.`,
    { param: 'input' },
  );
}

/** Returns the positions where a conversation can start after truncation, in ascending order. */
function listStarts(items: readonly AnyItem[]): number[] {
  const open = new Set<string>();
  const starts: number[] = [];
  items.forEach((item, index) => {
    const { type, call_id: id } = item as { type: string; call_id?: string };
    if (id !== undefined && type.endsWith('_call')) open.add(id);
    else if (id !== undefined) open.delete(id);
    if (open.size === 0 && type !== 'reasoning' && index + 1 < items.length) starts.push(index + 1);
  });
  return starts;
}

function isRequired(item: AnyItem): boolean {
  if (item.type === 'additional_tools' || item.type === 'compaction') return true;
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

/** Returns the first position that fits, with a binary search. All positions after it must fit too. */
function findFirst(positions: readonly number[], fits: (position: number) => boolean): number | undefined {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(positions[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return positions[low];
}

/** Returns the request for an upstream of the Responses API, which receives the complete conversation and stores nothing. */
function toNativeRequest(
  body: JsonObject,
  { items, open, getPath }: Pick<TranslationContext, 'open' | 'getPath'> & { items: readonly AnyItem[] },
): JsonObject {
  const { previous_response_id: _previous, conversation: _conversation, background, include, ...otherFields } = body;
  const requestedIncludes = (Array.isArray(include) ? include : []).filter((name) => !String(name).startsWith('parley:'));
  return {
    ...otherFields,
    ...(background === true && { stream: true }),
    input: items.flatMap((item) => toNativeItem(item, open, getPath(item))),
    store: false,
    include: [...new Set([...requestedIncludes, includeValues.encryptedReasoning])],
  };
}

/** Returns whether the upstream can receive the body unchanged and its response can be forwarded unchanged. */
function canForwardBody({ store, include = [] }: ResponsesRequest, items: readonly AnyItem[]): boolean {
  const isAdded = (name: string): boolean => name === includeValues.encryptedReasoning || name.startsWith('parley:');
  return store === false && !include.some(isAdded) && !items.some((item) => isSealed(item) || item.type.startsWith('parley:'));
}

/** Returns the items for an upstream, without their IDs, because the upstream does not know the IDs of Parley. */
function toNativeItem(item: AnyItem, open: TranslationContext['open'], path: string): object[] {
  const { type, id: _id, ...fields } = item as AnyItem & { id?: string };
  if (type.startsWith('parley:') || type === 'item_reference') return [];
  if (type.startsWith('mcp_')) return type === 'mcp_call' ? toFunctionCallItems(item) : [];
  if (type !== 'reasoning' && type !== 'compaction') return [{ type, ...fields }];
  if (!isSealed(item)) return [];
  const { encrypted_content, summary } = open(item, path);
  if (summary !== undefined) return [{ type: 'message', role: 'user', content: summary }];
  return encrypted_content === undefined ? [] : [{ ...item, encrypted_content }];
}

/** Converts a call that Parley ran to a function call and its output. */
function toFunctionCallItems(item: AnyItem): object[] {
  const { id: call_id, server_label, name, arguments: args, output, error } = item as JsonObject;
  return [
    { type: 'function_call', call_id, name: toMcpName(String(server_label), String(name)), arguments: args },
    { type: 'function_call_output', call_id, output: output ?? error ?? '' },
  ];
}
