import type { Conversation } from '#agent/quick-app/conversation.ts';
import type { Handle } from '#base/stream/sink.ts';
import type { ChatInput, Target } from '#domain/calls/call.ts';
import type { UpstreamSink } from '#domain/upstreams/upstream.ts';
import type { CallAccount } from './call-account.ts';

/**
 * A call that is ready to be answered: its request is checked and has the deployment's defaults. Code that changes
 * `request` must drop `nativeRequest`.
 */
export interface PreparedCall extends ChatInput {
  readonly target: Target;
  readonly account: CallAccount;
  /** Conversation with a quick app, including the state from its earlier replies. Undefined for other deployments. */
  readonly conversation: Conversation | undefined;
}

/** Function that answers a call: it pushes the reply into the sink. */
export type Responder = (preparedCall: PreparedCall, reply: UpstreamSink) => Handle;
