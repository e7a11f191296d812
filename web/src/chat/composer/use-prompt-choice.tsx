import { type KeyboardEvent, type ReactNode, Suspense, useLayoutEffect, useRef, useState } from 'react';
import type { ChoiceKeys } from '../../parts/choice-list.tsx';
import { lazyView } from '../../parts/lazy-view.ts';
import { nextPlaceholder } from '../../prompts/placeholder.ts';
import { focusMessage } from '../focus-message.ts';

const PromptChoice = lazyView(() => import('../../prompts/prompt-choice.tsx').then(({ PromptChoice: view }) => view));

const slash = /^\/([^\n]{0,60})$/;

/** The prompts behind a slash at the beginning of a message, and the places of a prompt to fill in, which Tab leads to. */
export function usePromptChoice(text: string, setText: (text: string) => void) {
  const keys = useRef<ChoiceKeys>(null);
  const [isClosed, setIsClosed] = useState(false);
  const [, query] = slash.exec(text) ?? [];
  if (isClosed && query === undefined) setIsClosed(false);
  const isFresh = useRef(false);
  useLayoutEffect(() => {
    if (isFresh.current) selectPlace(text, 0);
    isFresh.current = false;
  }, [text]);
  const use = (content: string): void => {
    isFresh.current = true;
    setText(content);
    setIsClosed(false);
    focusMessage();
  };
  const close = (): void => {
    setIsClosed(true);
    focusMessage();
  };
  const chooseKeys = (event: KeyboardEvent): boolean => {
    if (keys.current?.take(event) === true) return true;
    if (event.key !== 'Tab' || event.shiftKey) return false;
    const field = event.target as HTMLTextAreaElement;
    if (!selectPlace(text, field.selectionEnd)) return false;
    event.preventDefault();
    return true;
  };
  const choice: ReactNode = query !== undefined && !isClosed && (
    <Suspense fallback={null}>
      <PromptChoice {...{ query, keys, use, close }} />
    </Suspense>
  );
  return { choice, chooseKeys };
}

/** False where nothing is left to fill in. */
function selectPlace(text: string, from: number): boolean {
  const place = nextPlaceholder(text, from);
  const field = document.getElementById('message');
  if (place === undefined || !(field instanceof HTMLTextAreaElement)) return false;
  field.setSelectionRange(place.begin, place.end);
  return true;
}
