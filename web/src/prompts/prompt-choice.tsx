import { type RefObject, useEffect, useState } from 'react';
import { focusMessage } from '../chat/focus-message.ts';
import { type ChoiceKeys, ChoiceList } from '../parts/choice-list.tsx';
import { listDocuments } from '../service/user-documents.ts';
import { usePage } from '../shell/page.tsx';
import { listSharedPrompts, readPrompt, type StoredPrompt } from './prompts.ts';
import { PromptsDialog } from './prompts-dialog.tsx';
import { usePromptsStrings } from './prompts-strings.ts';
import './prompts.css';

interface PromptChoiceProps {
  /** Text after the slash. */
  readonly query: string;
  readonly keys: RefObject<ChoiceKeys | null>;
  /** Replaces the text of the message. */
  readonly setText: (text: string) => void;
  readonly close: () => void;
}

const maxItems = 8;

/** Prompts that match the text after a slash, and a link to all of them. */
export function PromptChoice({ query, keys, setText, close }: PromptChoiceProps) {
  const promptsStrings = usePromptsStrings();
  const { service } = usePage();
  const { names, sharedPrompts, load } = usePrompts();
  const [isManaging, setIsManaging] = useState(false);
  const isMatch = (name: string): boolean => name.toLowerCase().includes(query.toLowerCase());
  const ownPrompts = names
    .filter(isMatch)
    .map((name) => ({ id: `own ${name}`, name, getPrompt: () => readPrompt(service, 'said', name) }));
  const servicePrompts = sharedPrompts.flatMap((prompt) => {
    const { name } = prompt;
    return isMatch(name) ? [{ id: `shared ${name}`, name, note: promptsStrings.shared, getPrompt: async () => prompt }] : [];
  });
  const matches = [...ownPrompts, ...servicePrompts].slice(0, maxItems);
  // Text that matches no prompt is a message that starts with a slash.
  const isOpen = matches.length > 0 || query === '';
  const pick = (index: number): void => {
    const match = matches[index];
    if (match === undefined) setIsManaging(true);
    else void match.getPrompt().then(({ content }) => setText(content), close);
  };
  return (
    <>
      {isOpen && !isManaging && (
        <ChoiceList
          {...{ keys, onSelect: pick, onClose: close }}
          label={promptsStrings.prompts}
          items={[...matches, { id: '', name: promptsStrings.managePrompts }]}
          endsWithAction
        />
      )}
      {isManaging && (
        <PromptsDialog
          {...{ names, sharedPrompts }}
          onChange={load}
          close={() => {
            setIsManaging(false);
            if (query === '') setText('');
            else focusMessage();
          }}
        />
      )}
    </>
  );
}

/** Loads the names of the user's own prompts, and the prompts that the service offers. `load` reads the names again. */
function usePrompts() {
  const { service } = usePage();
  const [names, setNames] = useState<readonly string[]>([]);
  const [sharedPrompts, setSharedPrompts] = useState<readonly StoredPrompt[]>([]);
  const load = async (): Promise<void> => setNames(await listDocuments(service, 'said').catch(() => []));
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs each time the list opens
  useEffect(() => {
    void load();
    listSharedPrompts(service).then(setSharedPrompts, () => undefined);
  }, []);
  return { names, sharedPrompts, load };
}
