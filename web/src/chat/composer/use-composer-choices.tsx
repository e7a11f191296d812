import { type KeyboardEvent, type ReactNode, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { usePage } from '../../page/page.tsx';
import type { ChoiceKeys } from '../../parts/choice-list.tsx';
import { Icon } from '../../parts/icon.tsx';
import { lazyView } from '../../parts/lazy-view.tsx';
import { nextPlaceholder } from '../../prompts/placeholder.ts';
import type { Deployment } from '../../service/deployments.ts';
import { useWords } from '../../words/words.tsx';
import { focusMessage } from '../focus-message.ts';

const ChoiceList = lazyView(() => import('../../parts/choice-list.tsx').then(({ ChoiceList: view }) => view));

const at = /^@([^\n]{0,60})$/;
const mostShown = 8;
/** As many answers as stand side by side. */
const mostAddressees = 3;
const PromptChoice = lazyView(() => import('../../prompts/prompt-choice.tsx').then(({ PromptChoice: view }) => view));

const slash = /^\/([^\n]{0,60})$/;

/** Whom one message goes to in place of whom the conversation is with: chosen behind an @ at its beginning, one after the other. */
export function useAddressee(text: string, setText: (text: string) => void) {
  const words = useWords();
  const { deployments, isTest } = usePage();
  const keys = useRef<ChoiceKeys>(null);
  const [addressees, setAddressees] = useState<readonly Deployment[]>([]);
  const [isClosed, setIsClosed] = useState(false);
  const [, query] = at.exec(text) ?? [];
  if (isClosed && query === undefined) setIsClosed(false);
  const found =
    query === undefined || isClosed || isTest || addressees.length === mostAddressees
      ? []
      : deployments
          .filter((each) => !addressees.includes(each))
          .filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(query.toLowerCase()))
          .slice(0, mostShown);
  const pick = (place: number): void => {
    setAddressees([...addressees, ...found.slice(place, place + 1)]);
    setText('');
    focusMessage();
  };
  const addressKeys = (event: KeyboardEvent): boolean => {
    if (found.length > 0 && keys.current?.take(event) === true) return true;
    if (event.key === 'Backspace' && text === '') setAddressees(addressees.slice(0, -1));
    return false;
  };
  const choice: ReactNode = found.length > 0 && (
    <Suspense fallback={null}>
      <ChoiceList {...{ keys, pick, items: found, label: words.addressees }} close={() => setIsClosed(true)} />
    </Suspense>
  );
  const remove = (gone: Deployment): void => {
    setAddressees(addressees.filter((each) => each !== gone));
    focusMessage();
  };
  const chips: ReactNode = addressees.length > 0 && (
    <p className="addressees">
      {addressees.map((each, place) => (
        <span key={each.id} className="addressee small">
          {place === 0 ? words.toAddressee(each.name) : each.name}
          <RemoveButton name={each.name} isOnly={addressees.length === 1} remove={() => remove(each)} />
        </span>
      ))}
    </p>
  );
  const restore = (ids: readonly string[]): void => setAddressees(deployments.filter(({ id }) => ids.includes(id)));
  return { addressees, choice, chips, addressKeys, restore, forget: () => setAddressees([]) };
}

interface RemoveButtonProps {
  readonly name: string;
  readonly isOnly: boolean;
  readonly remove: () => void;
}

function RemoveButton({ name, isOnly, remove }: RemoveButtonProps) {
  const words = useWords();
  const label = isOnly ? words.noAddressee : words.removeAttachment(name);
  return (
    <button {...{ type: 'button', className: 'icon-button', 'aria-label': label, title: label }} onClick={remove}>
      <Icon name="close" />
    </button>
  );
}

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
