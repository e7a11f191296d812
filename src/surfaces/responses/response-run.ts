import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { FoldLimit } from '#contract/chat/fold-frames.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { isKnownCode } from '#contract/errors/error-conditions.ts';
import { type ParleyError, toErrorBody } from '#contract/errors/errors.ts';
import type { ResponseEvent, UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseError, ResponseObject } from '#contract/responses/response.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isFunctionTool, isMcpTool, isNamespaceTool, type ResponsesTool } from '#contract/responses/tools.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import type { ResponseResult } from '#services/responses/response-storage.ts';
import type { AllowedCalls } from './translation/offered-tools.ts';
import { RelayedReplyReader } from './translation/relayed-reply-reader.ts';
import type { ReplyEnd, ReplyReader } from './translation/reply-reader.ts';
import { type ReaderOptions, TranslatedReplyReader } from './translation/translated-reply-reader.ts';

export interface RunOptions extends ResponseOptions, Omit<ReaderOptions, 'key'> {
  readonly clock: Pick<Clock, 'epochMs'>;
  /** Whether the bytes of a Responses API upstream are forwarded unchanged. */
  readonly isForwardedUnchanged: boolean;
  /** Calls that a relayed reply may contain. If undefined, all are allowed. */
  readonly allowedCalls: AllowedCalls | undefined;
  /** Called once with the first event. */
  readonly onStart: (response: ResponseObject) => void;
  /**
   * Called once with the finished response, or with undefined if the run returned no event. Resolves with whether the response
   * can be read from now on.
   */
  readonly onEnd: (storedResponse: ResponseResult | undefined) => Promise<boolean> | undefined;
}

/** Limit for a reply. The final events contain its text four times, and a string has at most 512 Mi characters. */
const replyBound = {
  maxBytes: 64 * 1024 * 1024,
  message: 'The reply is too large for the Responses API. Request a stream of /v1/chat/completions.',
};

/**
 * One response from its first event to its last. Converts the frames of the reply to numbered events, and assembles the response
 * from these events. It is independent of HTTP, so a background run has the same events.
 */
export class ResponseRun {
  readonly #options: RunOptions;
  readonly #budget = new FoldLimit(replyBound);
  #reader: ReplyReader | undefined;
  #response: ResponseObject;
  #nextNumber = 0;
  #hasEnded = false;
  #settling: Promise<void> | undefined;
  #result: ResponseResult | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#response = { ...toResponse(options), status: options.isBackground ? 'queued' : 'in_progress' };
  }

  /** Current state of the response. Complete after the run has ended. */
  get response(): ResponseObject {
    return this.#response;
  }

  /** Final state of the response. Undefined before its end, and if the response returned no event. */
  get result(): ResponseResult | undefined {
    return this.#result;
  }

  /**
   * Returns whether a frame is forwarded unchanged, which is impossible after `begin`. Throws `upstream_failed` for a call of a
   * tool that the request does not allow.
   */
  canForward(frame: Frame): boolean {
    if (frame.native === undefined || !this.#options.isForwardedUnchanged || this.#nextNumber > 0) return false;
    this.#options.allowedCalls?.check(frame);
    return true;
  }

  /**
   * Resolves when the client can read and continue the finished response. If storing failed, `response.store` is then false.
   * Undefined if there is no need to wait. Never rejects.
   */
  get settling(): Promise<void> | undefined {
    return this.#settling;
  }

  /** Returns the first events of the response. `consume` includes them if they have not been returned yet. */
  begin(): ResponseEvent[] {
    if (this.#nextNumber > 0) return [];
    const response = this.#response;
    this.#options.onStart(response);
    if (!this.#options.isBackground)
      return this.#addNumbers([
        { type: 'response.created', response },
        { type: 'response.in_progress', response },
      ]);
    this.#response = { ...response, status: 'in_progress' };
    return this.#addNumbers([
      { type: 'response.created', response },
      { type: 'response.queued', response },
      { type: 'response.in_progress', response: this.#response },
    ]);
  }

  /**
   * Returns the events for a frame of the reply. Throws `upstream_failed` for a relayed call of a tool that the request does not
   * allow, and if the reply is too large.
   */
  consume(frame: Frame): ResponseEvent[] {
    this.#budget.consume(frame);
    this.#options.allowedCalls?.check(frame);
    const first = this.begin();
    this.#reader ??= this.#createReader(frame);
    const events = this.#addNumbers(this.#reader.consume(frame));
    return first.length === 0 ? events : [...first, ...events];
  }

  /**
   * Returns the events, as latin1 bytes, of a frame that only extends the current text. Returns undefined and consumes nothing
   * for other frames. Throws `upstream_failed` if the reply is too large.
   */
  consumeText(frame: Frame): string | undefined {
    const textPosition = this.#reader?.consumeText(frame);
    if (textPosition === undefined) return undefined;
    this.#budget.consume(frame);
    const { item_id, output_index, content_index } = textPosition;
    const type = 'response.output_text.delta';
    const prefix = `event: ${type}\ndata: {"type":"${type}","sequence_number":`;
    const position = `,"item_id":"${item_id}","output_index":${output_index},"content_index":${content_index},"delta":"`;
    let bytes = '';
    for (const piece of frame.contentPieces ?? []) {
      if (piece === '') continue;
      bytes += `${prefix}${this.#nextNumber}${position}${piece}","logprobs":[]}\n\n`;
      this.#nextNumber += 1;
    }
    return bytes;
  }

  /** Returns the final events of a complete reply. Throws `upstream_failed` if the reply contains an incomplete call. */
  end(): ResponseEvent[] {
    this.#reader ??= this.#createTranslatedReader();
    const ending = this.#reader.end();
    const first = [...this.begin(), ...this.#addNumbers(ending.events)];
    const status = ending.fields.status === 'incomplete' ? 'incomplete' : 'completed';
    const completed_at = status === 'completed' ? Math.floor(this.#options.clock.epochMs() / 1000) : null;
    this.#conclude(ending, { status, completed_at });
    return [...first, ...this.#addNumbers([{ type: `response.${status}`, response: this.#response }])];
  }

  /** Returns the final events of a failed reply: the error, then the response with its partial content. */
  fail(error: ParleyError): ResponseEvent[] {
    if (this.#hasEnded) return [];
    const first = this.begin();
    this.#endEarly({ status: 'failed', error: toResponseError(error) });
    return [...first, ...this.#addNumbers([toErrorEvent(error), { type: 'response.failed', response: this.#response }])];
  }

  /** Cancels the response without an event. */
  cancel(): void {
    if (this.#hasEnded) return;
    if (this.#nextNumber > 0) return this.#endEarly({ status: 'cancelled' });
    this.abandon();
  }

  /** Ends a response that returned no event, for example because the upstream's reply was forwarded unchanged. */
  abandon(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#settling = this.#options.onEnd(undefined)?.then(() => undefined);
  }

  #createReader({ native }: Frame): ReplyReader {
    return native === undefined ? this.#createTranslatedReader() : new RelayedReplyReader(this.#options);
  }

  #createTranslatedReader(): ReplyReader {
    const { id } = this.#options;
    return new TranslatedReplyReader({ ...this.#options, key: id.slice(id.indexOf('_') + 1) });
  }

  #endEarly(fields: Partial<ResponseObject>): void {
    this.#conclude(this.#reader?.endEarly() ?? { events: [], fields: {}, items: [] }, fields);
  }

  /** Ends the response. Fields that repeat the request stay the same, even if the upstream returned others. */
  #conclude(ending: ReplyEnd, fields: Partial<ResponseObject>): void {
    this.#hasEnded = true;
    const { id, object, created_at, background, model, previous_response_id, conversation, store, instructions, metadata } =
      this.#response;
    const ownFields = { id, object, created_at, background, model, previous_response_id, store, instructions, metadata };
    this.#response = { ...this.#response, ...ending.fields, ...ownFields, ...(conversation && { conversation }), ...fields };
    const response = this.#response;
    this.#result = { response, items: ending.items };
    this.#settling = this.#options.onEnd(this.#result)?.then((isStored) => {
      if (!isStored) response.store = false;
    });
  }

  #addNumbers(events: readonly UnnumberedEvent[]): ResponseEvent[] {
    return events.map(({ type, ...fields }) => {
      const event = { type, sequence_number: this.#nextNumber, ...fields };
      this.#nextNumber += 1;
      return event as ResponseEvent;
    });
  }
}

/** Properties of a response that are known before the reply. */
interface ResponseOptions {
  readonly id: string;
  readonly createdAtSeconds: number;
  readonly request: ResponsesRequest;
  /** ID of the deployment. */
  readonly model: string;
  /** Whether the response can be read later. */
  readonly shouldStore: boolean;
  readonly isBackground: boolean;
  readonly conversation: { readonly id: string } | undefined;
}

/** Returns a response in progress: the fields of the request, and the defaults of missing fields. */
function toResponse({ id, createdAtSeconds, request, model, ...options }: ResponseOptions): ResponseObject {
  const { reasoning, text, tools = [] } = request;
  return {
    id,
    object: 'response',
    created_at: createdAtSeconds,
    completed_at: null,
    status: 'in_progress',
    background: options.isBackground,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    ...(options.conversation && { conversation: { ...options.conversation } }),
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: 'default',
    store: options.shouldStore,
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    text: { format: toVisibleFormat(text?.format), ...(text?.verbosity !== undefined && { verbosity: text.verbosity }) },
    tool_choice: toVisibleChoice(request.tool_choice),
    tools: tools.map(toVisibleTool),
    top_logprobs: request.top_logprobs ?? 0,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  };
}

type Format = NonNullable<ResponsesRequest['text']>['format'];

function toVisibleFormat(format: Format): JsonObject {
  if (format === undefined) return { type: 'text' };
  if (format.type !== 'json_schema') return { type: format.type };
  return { description: null, strict: false, ...format };
}

/** The default mode of `allowed_tools` is `auto`. */
function toVisibleChoice(choice: ResponsesRequest['tool_choice'] = 'auto'): ResponseObject['tool_choice'] {
  return typeof choice === 'object' && choice.type === 'allowed_tools' ? { mode: 'auto', ...choice } : choice;
}

/** Returns a tool as the request defined it, without credentials of servers. */
function toVisibleTool(tool: ResponsesTool): JsonObject {
  if (isFunctionTool(tool)) return { ...tool, description: null, parameters: null, strict: null, ...tool };
  if (isNamespaceTool(tool)) return { ...tool, tools: tool.tools.map(toVisibleTool) };
  if (!isMcpTool(tool)) return { ...tool };
  const { authorization: _authorization, headers: _headers, ...visibleTool } = tool;
  return { ...visibleTool };
}

/** Returns the code of a failed response of an upstream if clients know it. Other APIs replace this code. */
export function findUpstreamCode({ cause }: ParleyError): string | undefined {
  return cause instanceof UpstreamError && cause.isFailedResponse && isKnownCode(cause.code) ? cause.code : undefined;
}

/** Returns the event for an error. Its `error` field has the fields of the error body. */
export function toErrorEvent(error: ParleyError): UnnumberedEvent {
  const { type, message, param, code: ownCode, display_message } = toErrorBody(error).error;
  const code = findUpstreamCode(error) ?? ownCode;
  const details = { type, message, param, code, ...(display_message !== undefined && { display_message }) };
  return { type: 'error', code, message, param, error: details };
}

/** Returns the `error` field of a failed response. */
export function toResponseError(error: ParleyError): ResponseError {
  const { status, publicCode, message } = error;
  const code = findUpstreamCode(error) ?? publicCode;
  return { code: isKnownCode(code) ? code : getErrorCode(status), message };
}

function getErrorCode(status: number): string {
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 400 && status < 500 ? 'invalid_prompt' : 'server_error';
}
