import { useEffect, useState } from 'react';

/** More than a model writes in a frame; what comes faster waits a few frames, so that none of them takes long. */
const mostCharsInFrame = 800;

/** A text that grows, as much of it as is to be drawn now. What is there at first is drawn at once. */
export function usePacedText(text: string): string {
  const [shownChars, setShownChars] = useState(text.length);
  const isBehind = shownChars < text.length;
  useEffect(() => {
    if (!isBehind) return;
    const frame = requestAnimationFrame(() => setShownChars(shownChars + mostCharsInFrame));
    return () => cancelAnimationFrame(frame);
  }, [isBehind, shownChars]);
  return isBehind ? text.slice(0, shownChars) : text;
}
