import { type KeyboardEvent, type RefObject, useEffect, useImperativeHandle, useState } from 'react';
import { focusMessage } from '../chat/focus-message.ts';
import { usePage } from '../page/page.tsx';
import { useWords } from '../words/words.tsx';
import { listPrompts, readPrompt } from './prompts.ts';
import { PromptsDialog } from './prompts-dialog.tsx';
import './prompts.css';

/** What the field does with its keys while the choice is open. */
export interface ChoiceKeys {
  /** Whether the key was meant for the choice. */
  readonly take: (event: KeyboardEvent) => boolean;
}

interface PromptChoiceProps {
  /** What is written behind the slash. */
  readonly query: string;
  readonly keys: RefObject<ChoiceKeys | null>;
  /** Takes the text of the prompt. */
  readonly use: (text: string) => void;
  readonly close: () => void;
}

const mostShown = 8;

/** The user's prompts that fit what is written behind a slash, and the way to all of them. */
export function PromptChoice({ query, keys, use, close }: PromptChoiceProps) {
  const words = useWords();
  const { service } = usePage();
  const { names, load } = useNames();
  const [at, setAt] = useState(0);
  const [isManaging, setIsManaging] = useState(false);
  const found = names.filter((name) => name.toLowerCase().includes(query.toLowerCase())).slice(0, mostShown);
  const last = found.length;
  // What fits no prompt is a message that begins with a slash.
  const isOpen = last > 0 || query === '';
  const chosen = Math.min(at, last);
  const pick = (place: number): void => {
    const name = found[place];
    if (name === undefined) setIsManaging(true);
    else void readPrompt(service, 'said', name).then(({ content }) => use(content), close);
  };
  useImperativeHandle(keys, () => ({
    take(event) {
      if (!isOpen || isManaging) return false;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        const step = event.key === 'ArrowDown' ? 1 : last;
        setAt((chosen + step) % (last + 1));
      } else if (event.key === 'Enter' || event.key === 'Tab') pick(chosen);
      else if (event.key === 'Escape') close();
      else return false;
      event.preventDefault();
      return true;
    },
  }));
  if (!isOpen && !isManaging) return null;
  return (
    <>
      <div className="prompt-choice" id="prompts" role="listbox" aria-label={words.prompts}>
        {[...found, words.managePrompts].map((name, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys arrive in the message, which keeps the focus
          <div
            key={name}
            id={`prompt-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            className={place === last ? 'soft' : undefined}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(place)}
          >
            {name}
          </div>
        ))}
      </div>
      {isManaging && (
        <PromptsDialog
          names={names}
          changed={load}
          close={() => {
            setIsManaging(false);
            focusMessage();
          }}
        />
      )}
    </>
  );
}

function useNames() {
  const { service } = usePage();
  const [names, setNames] = useState<readonly string[]>([]);
  const load = async (): Promise<void> => setNames(await listPrompts(service, 'said').catch(() => []));
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that the choice is opened
  useEffect(() => void load(), []);
  return { names, load };
}
