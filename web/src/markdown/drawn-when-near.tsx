import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

interface DrawnWhenNearProps {
  /** The source of what is drawn; it stands in its place until then, so that it can be found and read. */
  readonly text: string;
  /** At once, wherever it is. */
  readonly isDrawn: boolean;
  readonly children: () => ReactNode;
}

const charsInLine = 90;
const lineHeightEm = 1.6;

/** A part of something long, drawn when it comes near the view, and from then on; what is out of sight is not laid out. */
export function DrawnWhenNear({ text, isDrawn, children }: DrawnWhenNearProps) {
  const element = useRef<HTMLDivElement>(null);
  const [wasNear, setWasNear] = useState(isDrawn || !canDetectVisibility());
  const shows = wasNear || isDrawn;
  // Before the browser looks what is near, which it tells once.
  useLayoutEffect(() => {
    if (isDrawn) setWasNear(true);
    const part = element.current;
    if (part === null || shows) return;
    const onStateChange = (event: Event): void => {
      if (event.target === part && !(event as ContentVisibilityAutoStateChangeEvent).skipped) setWasNear(true);
    };
    part.addEventListener('contentvisibilityautostatechange', onStateChange);
    return () => part.removeEventListener('contentvisibilityautostatechange', onStateChange);
  }, [isDrawn, shows]);
  return (
    <div ref={element} className="part" style={{ containIntrinsicBlockSize: `auto ${estimateHeight(text)}em` }}>
      {shows ? children() : <div className="plain">{text.trim()}</div>}
    </div>
  );
}

/** Browsers that do not tell what comes near get everything at once. */
function canDetectVisibility(): boolean {
  return 'ContentVisibilityAutoStateChangeEvent' in globalThis;
}

function estimateHeight(text: string): number {
  const lines = text.split('\n').reduce((sum, line) => sum + Math.ceil(line.length / charsInLine), 0);
  return Math.max(1, lines) * lineHeightEm;
}
