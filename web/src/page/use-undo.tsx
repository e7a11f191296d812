import { type ReactNode, useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useCommands } from '../palette/use-commands.ts';
import { useWords } from '../words/words.tsx';
import type { UndoOffer } from './undo-offer.ts';
import './undo-note.css';

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

const offeredMs = 8000;

/**
 * Says what was done, and takes it back for those who ask within some seconds; another offer, or leaving the page, settles it. The
 * hand on the note stops the clock.
 */
function UndoNote({ offer, close }: { readonly offer: UndoOffer; readonly close: () => void }) {
  const words = useWords();
  const [isHeld, setIsHeld] = useState(false);
  const settle = useEffectEvent(() => offer.settle?.());
  useEffect(() => {
    const leave = (): void => void settle();
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, []);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => {
      offer.settle?.();
      close();
    }, offeredMs);
    return () => clearTimeout(timer);
  }, [isHeld, offer, close]);
  const undo = (): void => {
    offer.undo();
    close();
  };
  useCommands(() => [{ id: 'undo', title: `${words.undo}: ${offer.said}`, kind: 'action', icon: 'again', run: undo }]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that somebody is at the button inside
    <div
      {...{ className: 'undo-note', role: 'status' }}
      onPointerEnter={() => setIsHeld(true)}
      onPointerLeave={() => setIsHeld(false)}
      onFocus={() => setIsHeld(true)}
      onBlur={() => setIsHeld(false)}
    >
      <p>{offer.said}</p>
      <button type="button" className="button slim" onClick={undo}>
        {words.undo}
      </button>
    </div>
  );
}
