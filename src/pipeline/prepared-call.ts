import type { Conversation } from '#agent/quick-app/conversation.ts';
import type { Handle } from '#base/stream/sink.ts';
import type { ChatInput, Target } from '#domain/call.ts';
import type { UpstreamSink } from '#domain/upstreams/upstream.ts';
import type { CallAccount } from './call-account.ts';

/** A call that is ready to be answered: its request is checked and has the deployment's defaults. Whoever changes `request` drops `native`. */
export interface PreparedCall extends ChatInput {
  readonly target: Target;
  readonly account: CallAccount;
  /** With a quick app: what its earlier replies remember. */
  readonly conversation: Conversation | undefined;
}

/** One way to answer a call: pushes the reply into the sink. */
export type AnswerWith = (prepared: PreparedCall, reply: UpstreamSink) => Handle;
