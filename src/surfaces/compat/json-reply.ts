import { Accumulator, answerBound, FoldRoom } from '#contract/chat/fold-frames.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { ReplySink } from '#domain/call.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { RequestContext } from '../http/request-context.ts';

/** Sends a reply as one JSON text: its chunks folded. A reply that came whole passes with its bytes. */
export class JsonReply implements ReplySink {
  readonly #context: RequestContext;
  #whole: Frame | undefined;
  #folded: Accumulator | undefined;
  readonly #room = new FoldRoom(answerBound);

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Throws upstream_failed for a reply that is too large, or cannot be folded. */
  frame(frame: Frame): void {
    if (this.#whole === undefined && this.#folded === undefined && frame.completion !== undefined) {
      this.#whole = frame;
      return;
    }
    this.#room.take(frame);
    this.#folded ??= startedWith(this.#whole);
    for (const chunk of frame.chunks) this.#folded.add(chunk);
  }

  end(): void {
    const { response, replyHeaders } = this.#context;
    const whole = this.#folded === undefined ? this.#whole : Frame.ofCompletion(this.#folded.completion());
    sendJson(response, 200, whole?.bytes ?? '', replyHeaders);
  }

  fail(thrown: unknown): void {
    this.#context.sendError(thrown);
  }
}

function startedWith(whole: Frame | undefined): Accumulator {
  const folded = new Accumulator();
  for (const chunk of whole?.chunks ?? []) folded.add(chunk);
  return folded;
}
