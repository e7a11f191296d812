import { isJsonObject } from '#base/json.ts';
import type { Sink } from '#base/sink.ts';
import type { ResponseCustomContent } from '#contract/chunk.ts';
import type { RawFrame } from '#contract/frame.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { fromUrl, toUrl } from '#domain/files/resource-place.ts';
import { mayRead } from '#domain/files/resource-rights.ts';

/**
 * The sink of an application's reply: who called with a per-request key may read the files that are attached to it, as far as the
 * application itself may. A frame goes on when its files can be read on every node. For other callers it is the sink as it was.
 */
export function withAttachedFiles(caller: Caller, holder: Caller, sink: Sink<RawFrame>): Sink<RawFrame> {
  return caller.chain === null ? sink : new AttachedFiles({ caller, holder }, sink);
}

/** What waits is no more than comes while another node answers, for 2 s at most. */
class AttachedFiles implements Sink<RawFrame> {
  readonly #between: { readonly caller: Caller; readonly holder: Caller };
  readonly #sink: Sink<RawFrame>;
  #waiting: (() => void)[] | undefined;

  constructor(between: { readonly caller: Caller; readonly holder: Caller }, sink: Sink<RawFrame>) {
    this.#between = between;
    this.#sink = sink;
  }

  frame(frame: RawFrame): void {
    this.#inTurn(() => {
      const files = frame.textBytes === undefined && frame.native === undefined ? this.#newFiles(frame) : [];
      if (files.length > 0) this.#hand(files, frame);
      else this.#sink.frame(frame);
    });
  }

  end(): void {
    this.#inTurn(() => this.#sink.end());
  }

  fail(error: unknown): void {
    this.#inTurn(() => this.#sink.fail(error));
  }

  #inTurn(step: () => void): void {
    if (this.#waiting === undefined) step();
    else this.#waiting.push(step);
  }

  /** A caller who cannot be given a file still gets the reply, and is refused when it reads. */
  #hand(attached: readonly string[], frame: RawFrame): void {
    this.#waiting = [];
    const goOn = (): void => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      this.#sink.frame(frame);
      for (const step of waiting) this.#inTurn(step);
    };
    const handed = this.#between.caller.chain?.rights.change({ attached }) ?? Promise.resolve();
    handed.then(goOn, goOn);
  }

  #newFiles(frame: RawFrame): readonly string[] {
    const { caller, holder } = this.#between;
    const files = new Set<string>();
    for (const url of attachedTo(frame)) {
      const place = fromUrl(url);
      if (place?.kind === 'files' && !mayRead(caller, place) && mayRead(holder, place)) files.add(toUrl(place));
    }
    return [...files];
  }
}

/** Nothing that an application sends is trusted to have its form. */
function* attachedTo({ chunks }: RawFrame): Iterable<string> {
  for (const { choices } of chunks) {
    for (const { delta } of choices) {
      const custom = isJsonObject(delta) ? (delta.custom_content as ResponseCustomContent | null | undefined) : undefined;
      yield* urlsOf(custom?.attachments);
      for (const stage of listOf(custom?.stages)) yield* urlsOf(stage?.attachments);
    }
  }
}

function* urlsOf(attachments: ResponseCustomContent['attachments']): Iterable<string> {
  for (const attachment of listOf(attachments)) {
    for (const url of [attachment?.url, attachment?.reference_url]) if (typeof url === 'string') yield url;
  }
}

function listOf<Item>(value: readonly Item[] | undefined): readonly Item[] {
  return Array.isArray(value) ? value : [];
}
