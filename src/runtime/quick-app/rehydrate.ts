import type { Message } from '#contract/message.ts';
import { isMediaMessage } from '../shown-media.ts';
import type { Conversation } from './conversation.ts';
import { mapTexts } from './map-texts.ts';
import { fromMark, type OffloadedTexts } from './offloaded-texts.ts';

/** The newest of them; older ones are shown as lost. */
const mostChars = 32 * 1024 * 1024;
/** JSON, since it may stand where arguments of a call stood. */
const lost = JSON.stringify({ lost: 'What stood here was too long to be sent to and fro, and is not kept any more.' });

/** The conversation for the model, with all texts in their places; texts that are gone are shown as lost. Rejects with StoreFault. */
export async function rehydrate(conversation: Conversation): Promise<Conversation> {
  const texts = await readNewest(conversation.offloaded);
  const toText = (text: string): string => {
    const mark = fromMark(text);
    return mark === undefined || !texts.has(mark.name) ? text : (texts.get(mark.name)?.[mark.number] ?? lost);
  };
  const { messages, added, citations, state } = conversation;
  return {
    ...conversation,
    messages: withoutLostMedia(mapTexts(messages, toText)),
    added: withoutLostMedia(mapTexts(added, toText)),
    citations: mapTexts(citations, toText),
    state: state && { ...mapTexts({ ...state, beside: undefined }, toText), beside: undefined },
  };
}

async function readNewest(all: readonly OffloadedTexts[]): Promise<ReadonlyMap<string, readonly string[] | undefined>> {
  const texts = new Map<string, Promise<readonly string[] | undefined>>();
  let room = mostChars;
  for (const { name, chars, read } of all.toReversed()) {
    if (texts.has(name)) continue;
    room -= chars;
    texts.set(name, room >= 0 ? read() : Promise.resolve(undefined));
  }
  return new Map(await Promise.all([...texts].map(async ([name, reading]) => [name, await reading] as const)));
}

/** An image that is gone cannot be shown. */
function withoutLostMedia(messages: readonly Message[]): Message[] {
  const isLost = (message: Message): boolean =>
    isMediaMessage(message) && (message.custom_content?.attachments ?? []).some(({ data }) => data === lost);
  return messages.filter((message) => !isLost(message));
}
