import type { Frame } from '#contract/chat/frame.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResultItem } from '#services/responses/response-storage.ts';
import type { TextPosition } from './output.ts';

/** Remaining events and complete content of a reply that has ended. */
export interface ReplyEnd {
  /** Events before the final event of the response. */
  readonly events: readonly UnnumberedEvent[];
  /** Fields of the response: output, usage, and status. */
  readonly fields: Partial<ResponseObject>;
  /** Items to store for the next turn. */
  readonly items: readonly ResultItem[];
}

/** Converts the frames of one reply to a response. */
export interface ReplyReader {
  /** Returns the events of a frame. */
  consume(frame: Frame): readonly UnnumberedEvent[];
  /**
   * Consumes a frame that only extends the current text, and returns the position of the text. Returns undefined and consumes
   * nothing for other frames.
   */
  consumeText(frame: Frame): TextPosition | undefined;
  /** Ends a complete reply. Throws `upstream_failed` if it contains an incomplete item. */
  end(): ReplyEnd;
  /** Ends a failed reply. */
  endEarly(): ReplyEnd;
}
