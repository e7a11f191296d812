import { toLatin1 } from '#base/text/bytes.ts';
import type { MessageDeltaEvent, MessagesEvent, Parley } from '#contract/messages/dialect.ts';

/** Keeps the connection, and may bring what the dialect has no place for: clients pass over it. */
export type PingEvent = { type: 'ping'; parley?: Parley };

/** An event as Parley makes it; `parley` if the dialect has no place. */
export type MessageEvent = Exclude<MessagesEvent, { type: 'ping' } | MessageDeltaEvent> | MessageEnd | PingEvent;

type MessageEnd = MessageDeltaEvent & { parley?: Parley };

/** The events that add pieces of text to a block: each piece as it stands between the quotes of a JSON string, which is the same in both dialects. */
export function toTextEvents(pieces: readonly string[], index: number): string {
  const before = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"`;
  let bytes = '';
  for (const piece of pieces) if (piece !== '') bytes += `${before}${piece}"}}\n\n`;
  return bytes;
}

/** One event of a stream of the dialect as latin1 bytes. */
export function toNamedEvent(event: MessageEvent): string {
  return `event: ${event.type}\ndata: ${toLatin1(JSON.stringify(event))}\n\n`;
}
