import { type RefObject, useEffectEvent, useLayoutEffect, useRef } from 'react';

export interface ShownDialog {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  /** Gives the focus back to where it was, and calls `close`. */
  readonly leave: () => void;
}

/**
 * For a dialog that is drawn when it is wanted: it lies over the page, and has the focus, before anything else is typed. `close`
 * is called once it is left, and draws it no more. The browser tells of a closed dialog a moment later, and a key pressed
 * meanwhile would find it still drawn: so whoever leaves it by Escape or by a button does not wait for that.
 */
export function useShownDialog(close: () => void): ShownDialog {
  const dialog = useRef<HTMLDialogElement>(null);
  const leave = (): void => {
    dialog.current?.close();
    close();
  };
  const onCancel = useEffectEvent(leave);
  const onClose = useEffectEvent(close);
  useLayoutEffect(() => {
    const shown = dialog.current;
    if (shown === null) return;
    shown.showModal();
    const events = new AbortController();
    // A choice of files that is left says so to all around it.
    shown.addEventListener('cancel', ({ target }) => target === shown && onCancel(), events);
    shown.addEventListener('close', () => onClose(), events);
    return () => events.abort();
  }, []);
  return { dialog, leave };
}
