import { useDeferredValue, useMemo, useState } from 'react';
import { type AskedAttachment, toCited } from '../attachments/cited.ts';
import type { ShownAttachment } from '../attachments/kind-of.ts';
import type { Reply } from '../conversation/conversation.ts';
import type { Sources } from '../markdown/sources.ts';
import { useWords } from '../words/words.tsx';

const none: readonly ShownAttachment[] = [];

/** The attachments of an answer, and what the numbers in its text have to do with them once it is whole. */
export function useSources({ text, custom, state }: Reply) {
  const words = useWords();
  const [asked, setAsked] = useState<AskedAttachment>();
  const attachments = Array.isArray(custom.attachments) ? custom.attachments : none;
  const cited = useMemo(() => toCited(state === 'running' ? '' : text, attachments), [state, text, attachments]);
  const sources = useMemo<Sources | undefined>(() => {
    if (cited.size === 0) return undefined;
    const placeOf = (number: number): number => cited.get(number) ?? -1;
    return {
      nameOf: (number) => (cited.has(number) ? String(attachments[placeOf(number)]?.title || words.attachment) : undefined),
      show: (number) => setAsked({ at: placeOf(number) }),
    };
  }, [cited, attachments, words]);
  // What is drawn anew for it may be long, and can wait.
  return { attachments, cited, asked, sources: useDeferredValue(sources) };
}
