import { type RefObject, useEffect, useState } from 'react';
import { focusMessage } from '../chat/focus-message.ts';
import { usePage } from '../page/page.tsx';
import { type ChoiceKeys, ChoiceList } from '../parts/choice-list.tsx';
import { listPrompts, readPrompt } from './prompts.ts';
import { PromptsDialog } from './prompts-dialog.tsx';
import { usePromptsStrings } from './prompts-strings.ts';
import './prompts.css';

interface PromptChoiceProps {
  /** Text after the slash. */
  readonly query: string;
  readonly keys: RefObject<ChoiceKeys | null>;
  /** Inserts the text of the prompt. */
  readonly use: (text: string) => void;
  readonly close: () => void;
}

const maxItems = 8;

/** Prompts that match the text after a slash, and a link to all of them. */
export function PromptChoice({ query, keys, use, close }: PromptChoiceProps) {
  const promptsStrings = usePromptsStrings();
  const { service } = usePage();
  const { names, load } = useNames();
  const [isManaging, setIsManaging] = useState(false);
  const matches = names.filter((name) => name.toLowerCase().includes(query.toLowerCase())).slice(0, maxItems);
  // Text that matches no prompt is a message that starts with a slash.
  const isOpen = matches.length > 0 || query === '';
  const pick = (index: number): void => {
    const name = matches[index];
    if (name === undefined) setIsManaging(true);
    else void readPrompt(service, 'said', name).then(({ content }) => use(content), close);
  };
  return (
    <>
      {isOpen && !isManaging && (
        <ChoiceList
          {...{ keys, onSelect: pick, onClose: close }}
          label={promptsStrings.prompts}
          items={[...matches.map((name) => ({ id: `prompt ${name}`, name })), { id: '', name: promptsStrings.managePrompts }]}
          isLastOther
        />
      )}
      {isManaging && (
        <PromptsDialog
          names={names}
          onChange={load}
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs each time the list opens
  useEffect(() => void load(), []);
  return { names, load };
}
