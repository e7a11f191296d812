import type { ReplyHeaders } from '#base/http/client.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createReceiverRights } from '#domain/callers/held-rights.ts';
import type { Target } from '#domain/calls/call.ts';
import { collectForwardedFiles } from '#domain/files/collect-forwarded-files.ts';
import { computeCost, sumCounts, UsageCollector } from '#domain/usage/usage.ts';
import { selectReplyHeaders } from './reply-headers.ts';
import type { QuotaReservation } from './reserve-quota.ts';
import { UsageTotals } from './usage-totals.ts';

const maxIgnoredFields = 1000;

/** Options of a `CallAccount`. */
export interface AccountOptions {
  readonly target: Target;
  /** The request with defaults. The deployment may read the files in it. Undefined if the API has no conversation. */
  readonly request?: ChatRequest;
  /** The request as the client sent it. Fields that come from defaults are not reported as ignored. */
  readonly clientRequest: object;
  /** Estimated number of prompt tokens. */
  readonly promptTokens: number;
  /** Whether the usage includes the cost of the reply, if the deployment has prices. */
  readonly includesCost?: boolean;
}

/**
 * The account of one call: its reservation, the usage of its reply, the identity of the deployment while it answers, and the
 * information about the reply for the client. Charges the usage once.
 */
export class CallAccount {
  readonly usage: UsageTotals;
  /** Estimated number of prompt tokens. */
  readonly promptTokens: number;
  /** Fields of the client's request that did not reach a model. */
  readonly ignoredFields = new Set<string>();
  /** Whether an inner call of the deployment was rejected for a reason that concerns only its caller. */
  hasRejectedInnerCall = false;
  readonly #options: AccountOptions;
  /** Collects the usage of an application's inner calls. Undefined for a model, which has only its own tokens. */
  readonly #innerUsage: UsageCollector | undefined;
  #caller: Caller | undefined;
  #reservation: QuotaReservation | undefined;
  #isSettled = false;
  #attempts = 0;
  #replyHeaders: Readonly<Record<string, string>> = {};

  constructor(options: AccountOptions) {
    const { target, promptTokens, includesCost = false } = options;
    const { deployment } = target;
    this.#options = options;
    this.promptTokens = promptTokens;
    this.#innerUsage = deployment.kind === 'application' ? new UsageCollector() : undefined;
    this.usage = new UsageTotals({ deployment, promptTokens, inner: this.#innerUsage, includesCost });
  }

  /**
   * Identity of the deployment while it answers: the user who started the chain, one step further down the path. A per-request
   * key identifies the application as this caller. Created on first use, because most calls of models do not need it.
   */
  get caller(): Caller {
    this.#caller ??= this.#toCaller();
    return this.#caller;
  }

  /** Whether the call was admitted. */
  get isAdmitted(): boolean {
    return this.#reservation !== undefined;
  }

  /** Sets the reservation, before the deployment starts to answer. */
  admit(reservation: QuotaReservation): void {
    this.#reservation = reservation;
  }

  /** Headers of the reply, with names in lower case: limits, number of attempts, and headers of the application. */
  get headers(): Readonly<Record<string, string>> {
    const limits = this.#reservation?.headers;
    if (this.#attempts === 0) return { ...limits };
    return { ...limits, ...this.#replyHeaders, 'x-upstream-attempts': String(this.#attempts) };
  }

  /** Counts an attempt, and clears the headers and the ignored fields of the previous attempt. */
  startAttempt(): void {
    this.#attempts += 1;
    this.#replyHeaders = {};
    if (this.ignoredFields.size > 0) this.ignoredFields.clear();
  }

  /** Counts the answer of a quick app as one attempt, although no upstream is called. */
  startOwnAnswer(): void {
    this.#attempts = 1;
  }

  /** Sets the reply headers of a configured application, without those that it may not set. */
  setReplyHeaders(headers: ReplyHeaders): void {
    this.#replyHeaders = selectReplyHeaders(headers);
  }

  /** Records ignored fields that the client sent, such as `seed` or `messages.reasoning_content`. */
  recordIgnored(fields: readonly string[]): void {
    for (const field of fields) {
      const [root = field] = field.split('.', 1);
      if (this.ignoredFields.size < maxIgnoredFields && Object.hasOwn(this.#options.clientRequest, root))
        this.ignoredFields.add(field);
    }
  }

  /** Records ignored fields of the request in the client's own dialect. */
  recordIgnoredNative(fields: readonly string[]): void {
    for (const field of fields) this.ignoredFields.add(field);
  }

  /** Reports the usage to the call chain. Returns undefined if there is no chain or no usage. */
  report(used: readonly ModelUsage[] | undefined): Promise<void> | undefined {
    const { chain } = this.#options.target.call.caller;
    return chain === null || used === undefined ? undefined : Promise.resolve(chain.report(used));
  }

  /**
   * Charges the usage and releases the reservation. If `used` is undefined, charges nothing. `isComplete` is whether the reply
   * ended without an error. Further calls have no effect.
   */
  settle(used: readonly ModelUsage[] | undefined, isComplete: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const settle = this.#reservation?.settle;
    if (used === undefined) return settle?.(undefined);
    const { call, deployment } = this.#options.target;
    const cost = deployment.pricing === undefined ? 0 : computeCost(deployment, this.usage.getTotals().usage);
    call.record.cost = cost;
    call.record.details = this.usage.getDetails();
    if (settle === undefined) return;
    const counts = sumCounts(used);
    settle({ tokens: counts.total_tokens, cost, ...(isComplete && { completeUsage: counts }) });
  }

  #toCaller(): Caller {
    const { target, request } = this.#options;
    const { call, path, deployment } = target;
    const { caller } = call;
    const files = request === undefined ? undefined : collectForwardedFiles(caller, { request, path });
    const rights = createReceiverRights(deployment.id, caller.chain, files);
    const claims = [...(caller.chain?.claims ?? []), ...(this.#reservation?.claims ?? [])];
    const report = (usage: readonly ModelUsage[]): void => this.#innerUsage?.add(usage);
    const recordRejection = (): void => {
      this.hasRejectedInnerCall = true;
    };
    const { tags, isPrivate } = call.record;
    const inherited = { ...(tags && { tags }), ...(isPrivate && { isPrivate }) };
    return { ...caller, chain: { path, rights, claims, report, onRejection: recordRejection, ...inherited } };
  }
}
