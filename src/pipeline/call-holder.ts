import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Target } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { rightsOfReceiver } from '#domain/callers/held-rights.ts';
import { filesHandedOn } from '#domain/files/files-handed-on.ts';
import type { Claim } from '#domain/limits/limit-store.ts';
import type { UsageCollector } from '#domain/usage/usage.ts';
import { noClaims } from './reserve-limits.ts';

interface HeldCall {
  readonly target: Target;
  readonly request: ChatRequest;
  /** Collects the usage of an application's inner calls. */
  readonly inner: UsageCollector | undefined;
}

/**
 * Identity of a deployment while it answers a call: the user who started the chain, one step further down the path. An
 * application presents its
 * per-request key as this caller. The caller is made on first use, since most calls of models never need it.
 */
export class CallHolder {
  /** Quota reserved for the call. Set when the call is admitted. */
  claims: readonly Claim[] = noClaims;
  /** Whether Parley refused a call that the deployment made meanwhile, because of its user. */
  isExcused = false;
  readonly #call: HeldCall;
  #caller: Caller | undefined;

  constructor(call: HeldCall) {
    this.#call = call;
  }

  get caller(): Caller {
    this.#caller ??= this.#toCaller();
    return this.#caller;
  }

  #toCaller(): Caller {
    const { target, request, inner } = this.#call;
    const { call, path, deployment } = target;
    const { caller } = call;
    const rights = rightsOfReceiver(deployment.id, caller.chain, filesHandedOn(caller, { request, path }));
    const report = (usage: readonly ModelUsage[]): void => inner?.add(usage);
    const noteRefusal = (): void => {
      this.isExcused = true;
    };
    return { ...caller, chain: { path, rights, claims: claimsOnTheWay(caller, this.claims), report, noteRefusal } };
  }
}

/** What is reserved for the calls of a chain, with that of the next one. */
export function claimsOnTheWay({ chain }: Caller, claims: readonly Claim[]): readonly Claim[] {
  return chain?.claims === undefined ? claims : [...chain.claims, ...claims];
}
