import { type RefObject, useEffectEvent, useLayoutEffect, useRef } from 'react';

export interface ModalDialog {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  /** Closes the dialog, which restores the focus, and calls `onDialogClose`. */
  readonly closeDialog: () => void;
}

/**
 * Opens a rendered dialog as modal and focuses it before further input. `onDialogClose` is called when the dialog closes, and must
 * stop rendering it. The browser reports a closed dialog with a delay, in which keys would still reach it. Escape and the buttons
 * therefore close it without waiting for the report.
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
    // A canceled file picker also sends this event.
    element.addEventListener('cancel', ({ target }) => target === element && onCancel(), events);
    element.addEventListener('close', () => onClose(), events);
    return () => events.abort();
  }, []);
  return { dialog, closeDialog };
}
