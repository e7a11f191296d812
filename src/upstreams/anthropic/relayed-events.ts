import { eventAt } from '#base/event-splitter.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Sink } from '#base/sink.ts';
import { Frame, type RawFrame } from '#contract/frame.ts';
import type { MessagesUsage } from '#contract/messages/dialect.ts';
import type { Relayed } from '#contract/messages/relayed.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import type { EventReader } from '../upstream-reply.ts';
import { DeltaRun } from './delta-run.ts';
import { isMessageStop, toEventValue } from './event-value.ts';
import { toUsage, withLater } from './to-usage.ts';

/** Of a beginning that waits for what follows it. */
const maxHeldBytes = 1024 * 1024;

/**
 * Events as they came, one frame a read, for a caller who speaks the dialect. Deltas are passed without being parsed; of
 * the others the counts are noted. The beginning waits for what follows it, so that an error ahead of everything else comes first.
 */
export class RelayedEvents implements EventReader {
  readonly isEndMark = isMessageStop;
  readonly #run = new DeltaRun();
  #usage: Partial<MessagesUsage> | undefined;
  #held = '';
  #isOpening = true;
  #isCounted = true;
  hasEnded = false;
  /** Of the reply; they go on with the first frame. */
  #headers: Relayed['headers'];

  constructor(headers?: Relayed['headers']) {
    this.#headers = headers;
  }

  take(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    let textBytes = 0;
    let at = 0;
    while (at < events.length && !this.hasEnded) {
      const end = this.#run.read(events, at);
      if (end > at) {
        textBytes += this.#run.textBytes;
        at = end;
        continue;
      }
      const event = eventAt(events, at);
      const value = toEventValue(event);
      if (value instanceof UpstreamFault) {
        this.#passOn(events.slice(0, at), textBytes, reply);
        throw value;
      }
      if (value !== undefined) this.#note(event, value);
      at += event.length;
    }
    this.#passOn(at === events.length ? events : events.slice(0, at), textBytes, reply);
  }

  #note(event: string, value: JsonObject): void {
    const { type, delta } = value;
    if (type !== 'message_start' && type !== 'ping') this.#isOpening = false;
    if (type === 'content_block_delta' && isJsonObject(delta)) this.#run.learn(event, delta.type);
    if (type === 'message_stop') this.hasEnded = true;
    const usage = type === 'message_start' && isJsonObject(value.message) ? value.message.usage : value.usage;
    if (!isJsonObject(usage)) return;
    this.#usage = withLater(this.#usage ?? {}, usage);
    this.#isCounted = false;
  }

  #passOn(events: string, textBytes: number, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    const bytes = this.#held + events;
    this.#held = this.#isOpening ? bytes : '';
    if (this.#held.length > maxHeldBytes) throw new UpstreamFault('broken', 'The upstream sent no message in its events.');
    if (this.#isOpening || bytes === '') return;
    const usage = this.#isCounted || this.#usage === undefined ? undefined : toUsage(this.#usage);
    this.#isCounted = true;
    const relayed: Relayed = {
      dialect: 'messages',
      isWhole: false,
      isLast: this.hasEnded,
      textBytes,
      usage,
      ...(this.#headers && { headers: this.#headers }),
    };
    this.#headers = undefined;
    reply.frame(Frame.ofNative(bytes, relayed));
  }
}
