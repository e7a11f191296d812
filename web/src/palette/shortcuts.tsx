import { Suspense, useEffect, useEffectEvent, useState } from 'react';
import { focusMessage } from '../chat/focus-message.ts';
import { isComposing } from '../parts/is-composing.ts';
import { lazyView } from '../parts/lazy-view.tsx';
import { useStrings } from '../strings/strings.tsx';
import { useCommands } from './use-commands.ts';
import { useNavigate } from './use-navigate.ts';

const Palette = lazyView(() => import('./palette.tsx').then(({ Palette: view }) => view));
const ShortcutList = lazyView(() => import('./shortcut-list.tsx').then(({ ShortcutList: view }) => view));

interface ShortcutsProps {
  /** Number of requests to open the palette from elsewhere. */
  readonly openCount: number;
  readonly searchChats: (text: string) => void;
}

/** Handles the shortcuts of the complete page. */
export function Shortcuts({ openCount, searchChats }: ShortcutsProps) {
  const strings = useStrings();
  const navigate = useNavigate();
  const [visible, setVisible] = useState<'palette' | 'list'>();
  const [seenCount, setSeenCount] = useState(openCount);
  if (seenCount !== openCount) {
    setSeenCount(openCount);
    setVisible('palette');
  }
  const close = (dialog: typeof visible): void => setVisible((current) => (current === dialog ? undefined : current));
  const startConversation = (): void => {
    navigate({ at: 'new' });
    focusMessage();
  };
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const shortcut = parseShortcut(event);
    if (shortcut === undefined) return;
    event.preventDefault();
    if (shortcut === 'new') startConversation();
    else setVisible(visible === shortcut ? undefined : shortcut);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => void onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  useCommands(() => [
    { id: 'new', title: strings.newConversation, kind: 'action', icon: 'plus', run: startConversation },
    { id: 'shortcuts', title: strings.shortcuts, kind: 'action', icon: 'keyboard', run: () => setVisible('list') },
  ]);
  return (
    <Suspense fallback={null}>
      {visible === 'palette' && <Palette {...{ searchChats }} close={() => close('palette')} />}
      {visible === 'list' && <ShortcutList close={() => close('list')} />}
    </Suspense>
  );
}

function parseShortcut(event: KeyboardEvent) {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (altKey || isComposing(event)) return undefined;
  const lowerKey = key.toLowerCase();
  if (ctrlKey || metaKey) {
    if (lowerKey === 'k' && !shiftKey) return 'palette';
    if (lowerKey === 'o' && shiftKey) return 'new';
    return key === '/' ? 'list' : undefined;
  }
  return key === '?' && !isTextField(target) ? 'list' : undefined;
}

function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
