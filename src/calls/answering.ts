import type { ChatRequest } from '#contract/chat-request.ts';
import type { Call } from '#domain/call.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';
import type { Tally } from '#domain/usage/usage-sum.ts';
import type { Conversation } from '#runtime/quick-app/conversation.ts';

/** An admitted call on its way to an answer. */
export interface Answering {
  readonly call: Call;
  readonly deployment: Deployment;
  /** As the caller sent it, with the deployment's defaults. */
  readonly request: ChatRequest;
  /** The same in the caller's own dialect, for a model whose upstream may speak it; whoever changes `request` leaves it out. */
  readonly native?: NativeRequest | undefined;
  /** Ids from the root through this deployment. */
  readonly path: readonly string[];
  /** Hears what the deployment's own calls use up. */
  readonly inner: Tally;
  readonly snapshot: ConfigSnapshot;
  /** With a quick app, what its earlier replies remember. */
  readonly conversation: Conversation | undefined;
}
