import { eventAt } from '#base/event-splitter.ts';
import { isJsonObject } from '#base/json.ts';
import type { Sink } from '#base/sink.ts';
import { stringEnd } from '#base/string-end.ts';
import { Frame, type RawFrame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import type { EventReader } from '../upstream-reply.ts';
import { isEnd, isEndMark, isOpening, toEventValue } from './event-value.ts';
import { toUsage } from './to-usage.ts';

/** Of a beginning that waits for what follows it. */
const maxHeldBytes = 4 * 1024 * 1024;
const deltaHead =
  /^event: response\.(?:output_text|reasoning_summary_text|function_call_arguments|custom_tool_call_input)\.delta\n/;
const deltaKey = '"delta":"';
/** Of a part of the response: neither its opening, nor its end, nor a fault. */
const partHead = /^event: response\.[a-z_]+\.[a-z_]+\n/;

/**
 * Events as they came, one frame a read, for a caller who speaks the dialect. Deltas are passed without being parsed. The
 * beginning waits for what follows it, so that an error ahead of everything else comes first.
 */
export class RelayedEvents implements EventReader {
  readonly isEndMark = isEndMark;
  hasEnded = false;
  readonly #deltas = new DeltaEvents();
  #held = '';
  #isOpening = true;
  #usage: unknown;

  take(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    let textBytes = 0;
    let at = 0;
    while (at < events.length) {
      const end = this.#deltas.end(events, at);
      if (end > at) {
        textBytes += this.#deltas.textBytes;
        this.#isOpening = false;
        at = end;
      } else {
        const event = eventAt(events, at);
        if (this.#deltas.learn(event)) continue;
        const fault = this.hasEnded ? undefined : this.#note(event);
        if (fault !== undefined) {
          this.#passOn(events.slice(0, at), textBytes, reply);
          throw fault;
        }
        at += event.length;
      }
    }
    this.#passOn(events, textBytes, reply);
  }

  /** Gives the fault that an event means. One of a part is known by its name. */
  #note(event: string): UpstreamFault | undefined {
    const isPart = partHead.test(event);
    const value = isPart ? undefined : toEventValue(event);
    if (value instanceof UpstreamFault) return value;
    if (isPart || (value !== undefined && !isOpening(value))) this.#isOpening = false;
    if (value === undefined || !isEnd(value)) return undefined;
    this.hasEnded = true;
    this.#usage = isJsonObject(value.response) ? value.response.usage : undefined;
    return undefined;
  }

  #passOn(events: string, textBytes: number, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    const bytes = this.#held + events;
    this.#held = this.#isOpening ? bytes : '';
    if (this.#held.length > maxHeldBytes) throw new UpstreamFault('broken', 'The upstream sent no response in its events.');
    if (this.#isOpening || bytes === '') return;
    const usage = this.#usage === undefined ? undefined : toUsage(this.#usage);
    this.#usage = undefined;
    reply.frame(Frame.ofNative(bytes, { dialect: 'responses', isWhole: false, isLast: this.hasEnded, textBytes, usage }));
  }
}

/** Knows the events of one stream that bring a piece of one text, by the line with the name that the last one had. */
class DeltaEvents {
  #head = '';
  /** How far behind its name the text of the last one began: mostly as far as that of the next one will. */
  #textAt = 0;
  /** Bytes of text in the event found last. */
  textBytes = 0;

  /** Where such an event that begins here ends; `from` itself if none begins. */
  end(events: string, from: number): number {
    const dataFrom = from + this.#head.length;
    if (this.#head === '' || events.slice(from, dataFrom) !== this.#head) return from;
    let start = dataFrom + this.#textAt;
    if (events.slice(start - deltaKey.length, start) !== deltaKey) {
      const key = events.indexOf(deltaKey, dataFrom);
      if (key === -1 || events.slice(dataFrom, key).includes('\n\n')) return from;
      start = key + deltaKey.length;
      this.#textAt = start - dataFrom;
    }
    const dataEnd = events.indexOf('\n\n', start);
    this.textBytes = Math.max(1, Math.min(stringEnd(events, start), dataEnd) - start);
    return dataEnd + 2;
  }

  /** Takes the name of an event, if it is one of a delta, as that of those to come; returns whether it was another one before. */
  learn(event: string): boolean {
    const [head] = deltaHead.exec(event) ?? [];
    if (head === undefined || head === this.#head) return false;
    // A slice would keep the whole read it was cut from.
    this.#head = Buffer.from(head, 'latin1').toString('latin1');
    return true;
  }
}
