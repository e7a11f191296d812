import { type RefObject, useEffectEvent, useLayoutEffect, useRef } from 'react';

export interface ModalDialog {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  /** Gives the focus back to where it was, and calls `close`. */
  readonly closeDialog: () => void;
}

/**
 * For a dialog that is drawn when it is wanted: it lies over the page, and has the focus, before anything else is typed. `close`
 * is called once it is left, and draws it no more. The browser tells of a closed dialog a moment later, and a key pressed
 * meanwhile would find it still drawn: so whoever leaves it by Escape or by a button does not wait for that.
 */
export function useModalDialog(onDialogClose: () => void): ModalDialog {
  const dialog = useRef<HTMLDialogElement>(null);
  const closeDialog = (): void => {
    dialog.current?.close();
    onDialogClose();
  };
  const onCancel = useEffectEvent(closeDialog);
  const onClose = useEffectEvent(onDialogClose);
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    element.showModal();
    const events = new AbortController();
    // A choice of files that is left says so to all around it.
    element.addEventListener('cancel', ({ target }) => target === element && onCancel(), events);
    element.addEventListener('close', () => onClose(), events);
    return () => events.abort();
  }, []);
  return { dialog, closeDialog };
}
