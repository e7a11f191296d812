import { type RefObject, useLayoutEffect, useRef } from 'react';

/** For a dialog that is drawn when it is wanted: it lies over the page, and has the focus, before anything else is typed. */
export function useShownDialog(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  return dialog;
}
