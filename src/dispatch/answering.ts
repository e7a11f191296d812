import type { ChatRequest } from '#contract/chat-request.ts';
import type { Call } from '#domain/call.ts';
import type { Deployment } from '#domain/deployment.ts';
import type { Directory } from '#domain/directory.ts';
import type { Tally } from '#domain/tally.ts';
import type { NativeRequest } from '#domain/upstream.ts';
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
  readonly directory: Directory;
  /** With a quick app, what its earlier replies remember. */
  readonly conversation: Conversation | undefined;
}
