import { type ReactNode, useCallback, useRef, useState } from 'react';
import { UndoNote } from './undo-note.tsx';
import type { UndoOffer } from './undo-offer.ts';

/** The offer to take back what was done last; another one settles it. `note` is to be drawn somewhere. */
export function useUndo(): { readonly offerUndo: (offer: UndoOffer) => void; readonly note: ReactNode } {
  const [offer, setOffer] = useState<UndoOffer>();
  const open = useRef<UndoOffer>(undefined);
  const show = useCallback((next: UndoOffer | undefined): void => {
    open.current = next;
    setOffer(next);
  }, []);
  const offerUndo = useCallback(
    (next: UndoOffer): void => {
      open.current?.settle?.();
      show(next);
    },
    [show],
  );
  const close = useCallback(() => show(undefined), [show]);
  return { offerUndo, note: offer && <UndoNote key={offer.said} {...{ offer, close }} /> };
}
