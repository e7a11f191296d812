import { type KeyboardEvent, type ReactNode, Suspense, useLayoutEffect, useRef, useState } from 'react';
import type { ChoiceKeys } from '../../parts/choice-list.tsx';
import { IconButton } from '../../parts/icon.tsx';
import { lazyView } from '../../parts/lazy-view.tsx';
import { findPlaceholder } from '../../prompts/placeholder.ts';
import type { Deployment } from '../../service/deployments.ts';
import { usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';

const ChoiceList = lazyView(() => import('../../parts/choice-list.tsx').then(({ ChoiceList: view }) => view));
const PromptChoice = lazyView(() => import('../../prompts/prompt-choice.tsx').then(({ PromptChoice: view }) => view));

const mentionPattern = /^@([^\n]{0,60})$/;
const promptPattern = /^\/([^\n]{0,60})$/;
const maxItems = 8;
/** Number of answers that fit side by side. */
const maxMentions = 3;

/**
 * Deployments for a single message, in place of the deployment of the chat. The user mentions them one after the other with an @ at
 * the start of the message.
 */
export function useMentions(text: string, setText: (text: string) => void) {
  const strings = useStrings();
  const { deployments, isTest } = usePage();
  const keys = useRef<ChoiceKeys>(null);
  const [mentions, setMentions] = useState<readonly Deployment[]>([]);
  const [isClosed, setIsClosed] = useState(false);
  const [, query] = mentionPattern.exec(text) ?? [];
  if (isClosed && query === undefined) setIsClosed(false);
  const matches =
    query === undefined || isClosed || isTest || mentions.length === maxMentions
      ? []
      : deployments
          .filter((deployment) => !mentions.includes(deployment))
          .filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(query.toLowerCase()))
          .slice(0, maxItems);
  const pick = (index: number): void => {
    setMentions([...mentions, ...matches.slice(index, index + 1)]);
    setText('');
    focusMessage();
  };
  const handleMentionKey = (event: KeyboardEvent): boolean => {
    if (matches.length > 0 && keys.current?.handleKey(event) === true) return true;
    if (event.key === 'Backspace' && text === '') setMentions(mentions.slice(0, -1));
    return false;
  };
  const choice: ReactNode = matches.length > 0 && (
    <Suspense fallback={null}>
      <ChoiceList {...{ keys, onSelect: pick, items: matches, label: strings.addressees }} onClose={() => setIsClosed(true)} />
    </Suspense>
  );
  const remove = (removed: Deployment): void => {
    setMentions(mentions.filter((deployment) => deployment !== removed));
    focusMessage();
  };
  const chips: ReactNode = mentions.length > 0 && (
    <p className="addressees">
      {mentions.map((deployment, index) => (
        <span key={deployment.id} className="addressee small">
          {index === 0 ? strings.toAddressee(deployment.name) : deployment.name}
          <RemoveButton name={deployment.name} isOnly={mentions.length === 1} remove={() => remove(deployment)} />
        </span>
      ))}
    </p>
  );
  const restore = (ids: readonly string[]): void => setMentions(deployments.filter(({ id }) => ids.includes(id)));
  return { mentions, choice, chips, handleMentionKey, restore, forget: () => setMentions([]) };
}

interface RemoveButtonProps {
  readonly name: string;
  readonly isOnly: boolean;
  readonly remove: () => void;
}

function RemoveButton({ name, isOnly, remove }: RemoveButtonProps) {
  const strings = useStrings();
  const label = isOnly ? strings.noAddressee : strings.removeAttachment(name);
  return <IconButton icon="close" label={label} onClick={remove} />;
}

/** Offers the user's prompts after a slash at the start of a message. Tab selects the next placeholder of an inserted prompt. */
export function usePromptChoice(text: string, setText: (text: string) => void) {
  const keys = useRef<ChoiceKeys>(null);
  const [isClosed, setIsClosed] = useState(false);
  const [, query] = promptPattern.exec(text) ?? [];
  if (isClosed && query === undefined) setIsClosed(false);
  const hasNewPrompt = useRef(false);
  useLayoutEffect(() => {
    if (hasNewPrompt.current) selectPlaceholder(text, 0);
    hasNewPrompt.current = false;
  }, [text]);
  const insertPrompt = (content: string): void => {
    hasNewPrompt.current = true;
    setText(content);
    setIsClosed(false);
    focusMessage();
  };
  const close = (): void => {
    setIsClosed(true);
    focusMessage();
  };
  const handlePromptKey = (event: KeyboardEvent): boolean => {
    if (keys.current?.handleKey(event) === true) return true;
    if (event.key !== 'Tab' || event.shiftKey) return false;
    const field = event.target as HTMLTextAreaElement;
    if (!selectPlaceholder(text, field.selectionEnd)) return false;
    event.preventDefault();
    return true;
  };
  const choice: ReactNode = query !== undefined && !isClosed && (
    <Suspense fallback={null}>
      <PromptChoice {...{ query, keys, close }} setText={insertPrompt} />
    </Suspense>
  );
  return { choice, handlePromptKey };
}

/** Returns false if no placeholder remains. */
function selectPlaceholder(text: string, from: number): boolean {
  const placeholder = findPlaceholder(text, from);
  const field = document.getElementById('message');
  if (placeholder === undefined || !(field instanceof HTMLTextAreaElement)) return false;
  field.setSelectionRange(placeholder.start, placeholder.end);
  return true;
}
