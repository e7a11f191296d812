import { type RefObject, useEffect, useState } from 'react';
import { focusMessage } from '../chat/focus-message.ts';
import { usePage } from '../page/page.tsx';
import { type ChoiceKeys, ChoiceList } from '../parts/choice-list.tsx';
import { listPrompts, readPrompt } from './prompts.ts';
import { PromptsDialog } from './prompts-dialog.tsx';
import { usePromptsWords } from './prompts-words.ts';
import './prompts.css';

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
  const own = usePromptsWords();
  const { service } = usePage();
  const { names, load } = useNames();
  const [isManaging, setIsManaging] = useState(false);
  const found = names.filter((name) => name.toLowerCase().includes(query.toLowerCase())).slice(0, mostShown);
  // What fits no prompt is a message that begins with a slash.
  const isOpen = found.length > 0 || query === '';
  const pick = (place: number): void => {
    const name = found[place];
    if (name === undefined) setIsManaging(true);
    else void readPrompt(service, 'said', name).then(({ content }) => use(content), close);
  };
  return (
    <>
      {isOpen && !isManaging && (
        <ChoiceList
          {...{ keys, pick, close }}
          label={own.prompts}
          items={[...found.map((name) => ({ id: `prompt ${name}`, name })), { id: '', name: own.managePrompts }]}
          isLastOther
        />
      )}
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
