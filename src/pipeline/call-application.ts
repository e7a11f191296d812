import { DeferredHandle } from '#base/stream/deferred-handle.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { findCredentials, getForwardedFields } from '#domain/callers/forwarded-fields.ts';
import { hasJwtForm } from '#domain/callers/identify.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { Target } from '#domain/calls/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { ApplicationFields, CallUpstreams } from './call-upstream.ts';
import type { PreparedCall } from './prepared-call.ts';

/** Dependencies of `callApplication`. */
export interface ApplicationDeps {
  readonly perRequestKeys: PerRequestKeys;
  readonly callUpstreams: CallUpstreams;
}

/** Calls an application behind an endpoint, or the adapters of a model. Their per-request key is valid until the call ends. */
export function callApplication(deps: ApplicationDeps, preparedCall: PreparedCall, sink: Sink<RawFrame>): Handle {
  // An application or adapter receives the format of chat completions, regardless of the client's dialect.
  const input = { ...preparedCall, nativeRequest: undefined };
  const keyedCall = new KeyedCall(deps.perRequestKeys, sink);
  void keyedCall.begin(preparedCall.account.caller, (key) =>
    deps.callUpstreams(input, keyedCall, toApplicationFields(preparedCall.target, key)),
  );
  return keyedCall;
}

/**
 * Returns the headers and query parameters for applications and adapters. Errors must not reveal the values in
 * `secrets`.
 */
export function toApplicationFields({ call, deployment, snapshot }: Target, key: string): ApplicationFields {
  const { headers, query } = getForwardedFields(call.origin, deployment);
  const { forwardsToken } = deployment;
  const credentials = forwardsToken && call.caller.chain === null ? call.origin && findCredentials(call.origin) : undefined;
  const isToken = credentials !== undefined && hasJwtForm(credentials) && snapshot.keys.find(credentials) === undefined;
  const ownHeaders = {
    'api-key': key,
    ...(isToken && { authorization: `Bearer ${credentials}` }),
    ...toIdFields(deployment),
  };
  return {
    headers,
    query,
    ownHeaders,
    secrets: isToken ? [key, credentials] : [key],
    returnsHeaders: deployment.ownership === null,
  };
}

/** Returns the headers that name the called deployment. An ID is percent-encoded if it has characters other than printable ASCII. */
export function toIdFields({ id, applicationType }: Deployment): Readonly<Record<string, string>> {
  const headerId = /^[!-~]+$/.test(id) ? id : encodeURI(id);
  return { 'x-dial-deployment-id': headerId, ...(applicationType !== undefined && { 'x-dial-application-id': headerId }) };
}

/** Passes a reply on, and ends it after the per-request key of the call is revoked. */
class KeyedCall extends DeferredHandle implements Sink<RawFrame> {
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
      if (this.isCanceled) await this.#revoke();
      else this.start(() => call(key));
    } catch (error) {
      this.fail(error);
    }
  }

  push(frame: RawFrame): void {
    this.#sink.push(frame);
  }

  end(): void {
    void this.#revoke().then(() => this.isCanceled || this.#sink.end());
  }

  fail(error: unknown): void {
    void this.#revoke().then(() => this.isCanceled || this.#sink.fail(error));
  }

  override cancel(): void {
    super.cancel();
    void this.#revoke();
  }

  /** Revokes the key once. Never rejects. */
  async #revoke(): Promise<void> {
    const key = this.#key;
    this.#key = undefined;
    if (key !== undefined) await this.#keys.revoke(key);
  }
}
