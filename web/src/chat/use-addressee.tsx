import { type KeyboardEvent, type ReactNode, Suspense, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import type { ChoiceKeys } from '../parts/choice-list.tsx';
import { Icon } from '../parts/icon.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { focusMessage } from './focus-message.ts';

const ChoiceList = lazyView(() => import('../parts/choice-list.tsx').then(({ ChoiceList: view }) => view));

const at = /^@([^\n]{0,60})$/;
const mostShown = 8;

/** Whom one message goes to in place of whom the conversation is with: chosen behind an @ at its begin. */
export function useAddressee(text: string, setText: (text: string) => void) {
  const words = useWords();
  const { deployments, isTest } = usePage();
  const keys = useRef<ChoiceKeys>(null);
  const [addressee, setAddressee] = useState<Deployment>();
  const [isClosed, setIsClosed] = useState(false);
  const [, query] = at.exec(text) ?? [];
  if (isClosed && query === undefined) setIsClosed(false);
  const found =
    query === undefined || isClosed || isTest
      ? []
      : deployments.filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(query.toLowerCase())).slice(0, mostShown);
  const pick = (place: number): void => {
    setAddressee(found[place]);
    setText('');
    focusMessage();
  };
  const addressKeys = (event: KeyboardEvent): boolean => {
    if (found.length > 0 && keys.current?.take(event) === true) return true;
    if (event.key === 'Backspace' && text === '') setAddressee(undefined);
    return false;
  };
  const choice: ReactNode = found.length > 0 && (
    <Suspense fallback={null}>
      <ChoiceList {...{ keys, pick, items: found, label: words.addressees }} close={() => setIsClosed(true)} />
    </Suspense>
  );
  const chip: ReactNode = addressee !== undefined && (
    <p className="addressee small">
      {words.toAddressee(addressee.name)}
      <button
        {...{ type: 'button', className: 'icon-button', 'aria-label': words.noAddressee, title: words.noAddressee }}
        onClick={() => {
          setAddressee(undefined);
          focusMessage();
        }}
      >
        <Icon name="close" />
      </button>
    </p>
  );
  return { addressee, choice, chip, addressKeys, forget: () => setAddressee(undefined) };
}
