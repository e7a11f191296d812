import { Suspense, useEffect, useEffectEvent, useState } from 'react';
import { focusMessage } from '../chat/focus-message.ts';
import { isComposing } from '../parts/is-composing.ts';
import { lazyView } from '../parts/lazy-view.tsx';
import { useWords } from '../words/words.tsx';
import { useCommands } from './use-commands.ts';
import { useFollow } from './use-follow.ts';

const Palette = lazyView(() => import('./palette.tsx').then(({ Palette: view }) => view));
const ShortcutList = lazyView(() => import('./shortcut-list.tsx').then(({ ShortcutList: view }) => view));

/** What the keys of the whole page open. `opening` counts how often the palette was asked for otherwise. */
export function Shortcuts({ opening }: { readonly opening: number }) {
  const words = useWords();
  const follow = useFollow();
  const [shown, setShown] = useState<'palette' | 'list'>();
  const [seen, setSeen] = useState(opening);
  if (seen !== opening) {
    setSeen(opening);
    setShown('palette');
  }
  const close = (which: typeof shown): void => setShown((now) => (now === which ? undefined : now));
  const begin = (): void => {
    follow({ at: 'new' });
    focusMessage();
  };
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const meant = meantBy(event);
    if (meant === undefined) return;
    event.preventDefault();
    if (meant === 'new') begin();
    else setShown(shown === meant ? undefined : meant);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => void onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  useCommands(() => [
    { id: 'new', title: words.newConversation, kind: 'action', icon: 'plus', run: begin },
    { id: 'shortcuts', title: words.shortcuts, kind: 'action', icon: 'keyboard', run: () => setShown('list') },
  ]);
  return (
    <Suspense fallback={null}>
      {shown === 'palette' && <Palette close={() => close('palette')} />}
      {shown === 'list' && <ShortcutList close={() => close('list')} />}
    </Suspense>
  );
}

function meantBy(event: KeyboardEvent) {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (altKey || isComposing(event)) return undefined;
  const small = key.toLowerCase();
  if (ctrlKey || metaKey) {
    if (small === 'k' && !shiftKey) return 'palette';
    if (small === 'o' && shiftKey) return 'new';
    return key === '/' ? 'list' : undefined;
  }
  return key === '?' && !isWriting(target) ? 'list' : undefined;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
