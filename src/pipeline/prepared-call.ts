import type { Conversation } from '#agent/quick-app/conversation.ts';
import type { Handle } from '#base/stream/sink.ts';
import type { ChatAsk, Target } from '#domain/call.ts';
import type { UpstreamSink } from '#domain/upstreams/upstream.ts';
import type { UsageCollector } from '#domain/usage/usage.ts';
import type { CallHolder } from './call-holder.ts';
import type { ReplyNotes } from './reply-notes.ts';

/** A call that is ready to be answered: its request is checked and has the deployment's defaults. Whoever changes `request` drops `native`. */
export interface PreparedCall extends ChatAsk {
  readonly target: Target;
  /** Identity of the deployment while it answers. */
  readonly holder: CallHolder;
  /** Collects the usage of an application's inner calls. Undefined for a model, which has only its own tokens. */
  readonly inner: UsageCollector | undefined;
  /** Collects what the caller is told of how the answer is made. */
  readonly notes: ReplyNotes;
  /** With a quick app: what its earlier replies remember. */
  readonly conversation: Conversation | undefined;
}

/** One way to answer a call: pushes the reply into the sink. */
export type AnswerWith = (prepared: PreparedCall, reply: UpstreamSink) => Handle;
