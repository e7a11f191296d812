import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Target } from '#domain/call.ts';

/** An output item as the next turn needs it, with sealed content and items that clients do not see. */
export type ResultItem = object & { readonly type: string; readonly [key: string]: unknown };

/** A response as it ended. */
export interface ResponseResult {
  readonly response: ResponseObject;
  /** Its output as it is to come back with the next turn. */
  readonly items: readonly ResultItem[];
}

/** A response that begins: what it goes on from, and what becomes of it. */
export interface OpenedResponse {
  /** What was said before the input of the request, in order. */
  readonly earlier: readonly AnyItem[];
  /** The input of the request; references are the items themselves. */
  readonly input: readonly AnyItem[];
  readonly isStored: boolean;
  readonly conversation: { readonly id: string } | undefined;
  /** Called once, with the first event. */
  onStarted(response: ResponseObject): void;
  /**
   * Called once, when the response ends, however it ends; undefined if nobody was told of it. What it gives resolves once the
   * response can be read: with whether it can.
   */
  onEnded(result: ResponseResult | undefined): Promise<boolean> | undefined;
}

/** What keeps responses beyond their call. */
export interface ResponseStorage {
  /** Throws 400 for what is not stored, or of somebody else, and 409 for a conversation that somebody else is at. */
  open(target: Target, request: ResponsesRequest): Promise<OpenedResponse> | OpenedResponse;
  /** The same for a request that is only counted. */
  read(target: Target, request: ResponsesRequest): Promise<OpenedResponse> | OpenedResponse;
}

/** Keeps nothing: whoever goes on sends everything again. */
export const noStorage: ResponseStorage = { open: openNothing, read: openNothing };

function openNothing(_target: Target, request: ResponsesRequest): OpenedResponse {
  const { previous_response_id: previous, conversation, background, input } = request;
  if (previous !== undefined)
    throw new ParleyError('previous_response_not_found', `previous_response_id ${notStoredMessage}`, {
      param: 'previous_response_id',
    });
  if (conversation !== undefined)
    throw new ParleyError('conversation_not_found', `conversation ${notStoredMessage}`, { param: 'conversation' });
  if (background === true) throw createRequestError('background', 'must be false: no response is stored here');
  return { ...notStored, input };
}

/** What a response is that nothing is kept of. */
export const notStored = {
  ...{ earlier: [], isStored: false, conversation: undefined },
  onStarted: () => undefined,
  onEnded: () => undefined,
} satisfies Omit<OpenedResponse, 'input'>;

const notStoredMessage = 'names what is not stored here; send the whole conversation as input.';
