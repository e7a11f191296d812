import { LateHandle } from '#base/late-handle.ts';
import type { Handle, Sink } from '#base/sink.ts';
import type { RawFrame } from '#contract/frame.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import { filesHandedOn } from '#domain/files/file-references.ts';
import { callUpstreams, type UpstreamDeps } from './call-upstream.ts';
import type { PreparedCall } from './prepared-call.ts';

export interface ApplicationDeps extends UpstreamDeps {
  readonly perRequestKeys: PerRequestKeys;
}

/** Calls an application behind an endpoint, with a per-request key that lives as long as the call. */
export function callApplication(deps: ApplicationDeps, prepared: PreparedCall, sink: Sink<RawFrame>): Handle {
  const calling = new KeyedCall(deps.perRequestKeys, sink);
  // An application is sent the compat wire, whatever dialect the caller speaks.
  const asked = { ...prepared, native: undefined };
  void calling.begin(toHolder(prepared), (key) => callUpstreams(deps, asked, calling, { 'api-key': key }));
  return calling;
}

/** Who presents the per-request key: the one who started the chain, further down the path. */
export function toHolder({ target: { call, path }, request, inner }: PreparedCall): Caller {
  const { caller } = call;
  return { ...caller, chain: { path, files: filesHandedOn(caller, { request, path }), report: (usage) => inner.add(usage) } };
}

/** The end of the reply goes out when the key has ended. */
class KeyedCall extends LateHandle implements Sink<RawFrame> {
  readonly #keys: PerRequestKeys;
  readonly #sink: Sink<RawFrame>;
  #key: string | undefined;

  constructor(keys: PerRequestKeys, sink: Sink<RawFrame>) {
    super();
    this.#keys = keys;
    this.#sink = sink;
  }

  async begin(holder: Caller, call: (key: string) => Handle): Promise<void> {
    try {
      const key = await this.#keys.issue(holder);
      this.#key = key;
      if (this.isCancelled) await this.#revoke();
      else this.start(() => call(key));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  frame(frame: RawFrame): void {
    this.#sink.frame(frame);
  }

  end(): void {
    void this.#revoke().then(() => this.isCancelled || this.#sink.end());
  }

  fail(error: unknown): void {
    void this.#revoke().then(() => this.isCancelled || this.#sink.fail(error));
  }

  override cancel(): void {
    super.cancel();
    void this.#revoke();
  }

  /** Never fails. */
  async #revoke(): Promise<void> {
    const key = this.#key;
    this.#key = undefined;
    if (key !== undefined) await this.#keys.revoke(key);
  }
}
