import type { Frame } from '#contract/chat/frame.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResultItem } from '#services/responses/response-storage.ts';
import type { TextPlace } from './output.ts';

/** What a response is once its reply is over. */
export interface Ending {
  /** Those that are still owed, ahead of the last. */
  readonly events: readonly UnnumberedEvent[];
  /** Of the response: what was said, what was used, how it ended. */
  readonly fields: Partial<ResponseObject>;
  readonly items: readonly ResultItem[];
}

/** How the frames of one reply are read as a response. */
export interface Reading {
  /** What a part of the reply means. */
  consume(frame: Frame): readonly UnnumberedEvent[];
  /** Takes a frame that only adds to the text being said; gives where that is. Undefined, with nothing taken, for any other. */
  takeText(frame: Frame): TextPlace | undefined;
  /** A reply that ended well. Throws upstream_failed for one that leaves something half. */
  end(): Ending;
  /** A reply that broke off. */
  breakOff(): Ending;
}
