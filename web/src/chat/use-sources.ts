import { useDeferredValue, useMemo, useState } from 'react';
import { type CitedSource, toCited, withoutMark } from '../attachments/cited.ts';
import type { ShownAttachment } from '../attachments/kind-of.ts';
import type { Reply } from '../conversation/conversation.ts';
import type { Sources } from '../markdown/sources.ts';
import { useWords } from '../words/words.tsx';

const none: readonly ShownAttachment[] = [];

/** What an answer cites once it is whole, what it brings beside that, and which source is looked at. */
export function useSources({ text, custom, state }: Reply) {
  const words = useWords();
  const [shown, show] = useState<number>();
  const attachments = Array.isArray(custom.attachments) ? custom.attachments : none;
  const isRunning = state === 'running';
  const { cited, others } = useMemo(() => {
    // What may turn out to be a source waits for the text that cites it.
    if (isRunning) return { cited: [], others: attachments.filter(({ reference_url: source }) => source === undefined) };
    const places = toCited(text, attachments);
    const found = Array.from(places, ([number, at]): CitedSource => {
      const attachment = attachments[at] ?? {};
      const name = withoutMark(String(attachment.title || words.attachment));
      return { number, attachment, name };
    });
    const isCited = new Set(places.values());
    return {
      cited: found.sort((one, other) => one.number - other.number),
      others: attachments.filter((_, at) => !isCited.has(at)),
    };
  }, [isRunning, text, attachments, words]);
  const sources = useMemo<Sources | undefined>(() => {
    if (cited.length === 0) return undefined;
    return { nameOf: (wanted) => cited.find(({ number }) => number === wanted)?.name, show };
  }, [cited]);
  // What is drawn anew for it may be long, and can wait.
  return { cited, others, shown, show, sources: useDeferredValue(sources) };
}
