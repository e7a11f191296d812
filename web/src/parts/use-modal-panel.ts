import { type RefObject, useEffect, useEffectEvent } from 'react';

interface ModalPanel {
  readonly panel: RefObject<HTMLElement | null>;
  readonly isOpen: boolean;
  readonly close: () => void;
  /** Where the focus goes at the end if what had it before is gone. */
  readonly otherwise: string;
}

/** While a panel is open, nothing beside it can be reached; Escape closes it, and the focus goes back to where it was. */
export function useModalPanel({ panel, isOpen, close, otherwise }: ModalPanel): void {
  const onKeyDown = useEffectEvent(({ key }: KeyboardEvent) => key === 'Escape' && close());
  useEffect(() => {
    const own = panel.current;
    if (!isOpen || own === null) return;
    const before = document.activeElement;
    const beside = besideOf(own);
    for (const each of beside) each.inert = true;
    own.querySelector<HTMLElement>('a, button')?.focus();
    const listen = (event: KeyboardEvent): void => void onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => {
      document.removeEventListener('keydown', listen);
      for (const each of beside) each.inert = false;
      const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
      (isThere ? before : document.querySelector<HTMLElement>(otherwise))?.focus();
    };
  }, [panel, isOpen, otherwise]);
}

/** Everything outside of an element, but for the curtain that closes it. */
function besideOf(own: HTMLElement): readonly HTMLElement[] {
  const beside: HTMLElement[] = [];
  for (let inner: HTMLElement = own; inner.parentElement !== null && inner !== document.body; inner = inner.parentElement) {
    for (const each of inner.parentElement.children) {
      if (each !== inner && each instanceof HTMLElement && !each.matches('.curtain, [role=status]')) beside.push(each);
    }
  }
  return beside;
}
