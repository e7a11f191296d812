import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Target } from '#domain/calls/call.ts';

/** An output item in the form that the next turn needs, including sealed content and items that are hidden from clients. */
export type ResultItem = object & { readonly type: string; readonly [key: string]: unknown };

/** Fields of a response that its storage reads. The other fields are stored unchanged. */
export type StorableResponse = Pick<ResponseObject, 'id' | 'created_at' | 'status' | 'background' | 'output'>;

/** Final state of a response. */
export interface ResponseResult {
  readonly response: StorableResponse;
  /** Output in the form that the next turn sends. */
  readonly items: readonly ResultItem[];
}

/** A response that starts, with the items that it continues. */
export interface OpenedResponse {
  /** Items before the input of the request, in order. */
  readonly earlierItems: readonly AnyItem[];
  /** Input of the request, with references replaced by their items. */
  readonly input: readonly AnyItem[];
  readonly shouldStore: boolean;
  readonly conversation: { readonly id: string } | undefined;
  /** Called once, with the first event. */
  onStarted(response: ResponseObject): void;
  /**
   * Called once, when the response ends for any reason. `result` is undefined if no client has received the response. The
   * returned promise resolves with whether the response is stored, as soon as clients can read it.
   */
  onEnded(result: ResponseResult | undefined): Promise<boolean> | undefined;
}

/** Storage of responses, so that later requests can continue them. */
export interface ResponseStorage {
  /** Throws an error with status 400 for a reference that is not stored for this user, and 409 for a locked conversation. */
  open(target: Target, request: ResponsesRequest): Promise<OpenedResponse> | OpenedResponse;
  /** Reads the same data without a lock, to count the tokens of a request. */
  openUnlocked(target: Target, request: ResponsesRequest): Promise<OpenedResponse> | OpenedResponse;
}

/** Stores no responses. Clients send the complete conversation with each request. */
export const noStorage: ResponseStorage = { open: skipStorage, openUnlocked: skipStorage };

function skipStorage(_target: Target, request: ResponsesRequest): OpenedResponse {
  const { previous_response_id: previous, conversation, background, input } = request;
  if (previous !== undefined)
    throw new ParleyError('previous_response_not_found', `previous_response_id ${notStoredMessage}`, {
      param: 'previous_response_id',
    });
  if (conversation !== undefined)
    throw new ParleyError('conversation_not_found', `conversation ${notStoredMessage}`, { param: 'conversation' });
  if (background === true) throw createRequestError('background', 'must be false, because this service does not store responses');
  return { ...unstoredFields, input };
}

/** Fields of a response that is not stored. */
export const unstoredFields = {
  earlierItems: [],
  shouldStore: false,
  conversation: undefined,
  onStarted: () => undefined,
  onEnded: () => undefined,
} satisfies Omit<OpenedResponse, 'input'>;

const notStoredMessage =
  'is not supported, because this service does not store responses. Send the complete conversation as input.';
