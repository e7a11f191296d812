import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Call, InnerReply } from '#domain/call.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';

/** A question to a deployment, with the rights of a caller. */
export interface EvaluationAsk extends Pick<Call, 'deployment' | 'caller' | 'version' | 'wantsTrace'> {
  readonly request: ChatRequest;
  readonly signal: AbortSignal;
}

/** What a case is asked with. */
export interface CaseDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  /** Rejects with a ParleyError. */
  readonly ask: (ask: EvaluationAsk) => Promise<InnerReply>;
}
