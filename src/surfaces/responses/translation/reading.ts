import type { Frame } from '#contract/chat/frame.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResultItem } from '#services/responses/response-storage.ts';
import type { TextPlace } from './output.ts';

/** Result of reading a finished reply. */
export interface ReplyEnd {
  /** Remaining events before the last one. */
  readonly events: readonly UnnumberedEvent[];
  /** Fields of the response: output, usage, and status. */
  readonly fields: Partial<ResponseObject>;
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
  takeText(frame: Frame): TextPlace | undefined;
  /** Ends a complete reply. Throws `upstream_failed` if it contains an incomplete item. */
  end(): ReplyEnd;
  /** Ends a failed reply. */
  breakOff(): ReplyEnd;
}
