import { useEffect, useEffectEvent, useState } from 'react';
import { useCommands } from '../palette/use-commands.ts';
import { useWords } from '../words/words.tsx';
import './undo-note.css';
import type { UndoOffer } from './undo-offer.ts';

const offeredMs = 8000;

/**
 * Says what was done, and takes it back for those who ask within some seconds; another offer, or leaving the page, settles it. The
 * hand on the note stops the clock.
 */
export function UndoNote({ offer, close }: { readonly offer: UndoOffer; readonly close: () => void }) {
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
