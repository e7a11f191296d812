import { type ReactNode, useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useCommands } from '../palette/use-commands.ts';
import { TextButton } from '../parts/icon.tsx';
import { useStrings } from '../strings/strings.tsx';
import type { UndoOffer } from './page.tsx';
import './undo-note.css';

/** Offers to undo the last action. A new offer ends the previous one. The caller renders `note`. */
export function useUndo(): { readonly offerUndo: (offer: UndoOffer) => void; readonly note: ReactNode } {
  const [offer, setOffer] = useState<UndoOffer>();
  const currentOffer = useRef<UndoOffer>(undefined);
  const show = useCallback((next: UndoOffer | undefined): void => {
    currentOffer.current = next;
    setOffer(next);
  }, []);
  const offerUndo = useCallback(
    (next: UndoOffer): void => {
      currentOffer.current?.onExpire?.();
      show(next);
    },
    [show],
  );
  const close = useCallback(() => show(undefined), [show]);
  return { offerUndo, note: offer && <UndoNote key={offer.message} {...{ offer, close }} /> };
}

const visibleMs = 8000;

/**
 * Describes an action and offers to undo it for some seconds. Another offer or leaving the page ends the offer. Hovering over the
 * note or focusing it stops the timer.
 */
function UndoNote({ offer, close }: { readonly offer: UndoOffer; readonly close: () => void }) {
  const strings = useStrings();
  const [isPaused, setIsPaused] = useState(false);
  const onExpire = useEffectEvent(() => offer.onExpire?.());
  useEffect(() => {
    const onPageHide = (): void => void onExpire();
    addEventListener('pagehide', onPageHide);
    return () => removeEventListener('pagehide', onPageHide);
  }, []);
  useEffect(() => {
    if (isPaused) return;
    const timer = setTimeout(() => {
      offer.onExpire?.();
      close();
    }, visibleMs);
    return () => clearTimeout(timer);
  }, [isPaused, offer, close]);
  const undo = (): void => {
    offer.undo();
    close();
  };
  useCommands(() => [{ id: 'undo', title: `${strings.undo}: ${offer.message}`, kind: 'action', icon: 'again', run: undo }]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only observes interaction with the button inside
    <div
      {...{ className: 'undo-note', role: 'status' }}
      onPointerEnter={() => setIsPaused(true)}
      onPointerLeave={() => setIsPaused(false)}
      onFocus={() => setIsPaused(true)}
      onBlur={() => setIsPaused(false)}
    >
      <p>{offer.message}</p>
      <TextButton className="button slim" onClick={undo}>
        {strings.undo}
      </TextButton>
    </div>
  );
}
