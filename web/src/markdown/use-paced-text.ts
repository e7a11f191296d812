import { useEffect, useRef, useState } from 'react';
import { Pace } from './pace.ts';

const atFirst = 8000;

/** A text that may grow, as much of it as is to be drawn now. */
export function usePacedText(text: string, isWhole: boolean): string {
  const [pace] = useState(() => new Pace());
  const [shownChars, setShownChars] = useState(Math.min(text.length, atFirst));
  const shown = useRef(shownChars);
  useEffect(() => {
    let frame = 0;
    const look = (): void => {
      const chars = pace.frame(performance.now(), text.length - shown.current, isWhole);
      shown.current += chars;
      if (chars > 0) setShownChars(shown.current);
      if (shown.current < text.length || pace.isMeasuring) frame = requestAnimationFrame(look);
    };
    if (shown.current < text.length || pace.isMeasuring) frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [text, isWhole, pace]);
  return shownChars < text.length ? text.slice(0, shownChars) : text;
}
