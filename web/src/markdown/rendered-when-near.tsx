import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { PlainText } from './long-text.tsx';

interface RenderedWhenNearProps {
  /** Source text, shown until the content is rendered, so that it can be found and read. */
  readonly text: string;
  /** Whether to render immediately at any position. */
  readonly isEager: boolean;
  readonly children: () => ReactNode;
}

const charsInLine = 90;
const lineHeightEm = 1.6;

/** Renders a part of long content when it comes near the view, and then keeps it. Content out of view has no layout. */
export function RenderedWhenNear({ text, isEager, children }: RenderedWhenNearProps) {
  const element = useRef<HTMLDivElement>(null);
  // All content is rendered immediately if the browser cannot report elements near the view.
  const [wasNear, setWasNear] = useState(isEager || !('ContentVisibilityAutoStateChangeEvent' in globalThis));
  const shows = wasNear || isEager;
  // A layout effect runs before the browser reports visible elements, which it does only once.
  useLayoutEffect(() => {
    if (isEager) setWasNear(true);
    const part = element.current;
    if (part === null || shows) return;
    const onStateChange = (event: Event): void => {
      if (event.target === part && !(event as ContentVisibilityAutoStateChangeEvent).skipped) setWasNear(true);
    };
    part.addEventListener('contentvisibilityautostatechange', onStateChange);
    return () => part.removeEventListener('contentvisibilityautostatechange', onStateChange);
  }, [isEager, shows]);
  return (
    <div ref={element} className="part" style={{ containIntrinsicBlockSize: `auto ${estimateHeight(text)}em` }}>
      {shows ? (
        children()
      ) : (
        <div className="plain">
          <PlainText text={text.trim()} />
        </div>
      )}
    </div>
  );
}

function estimateHeight(text: string): number {
  const lines = text.split('\n').reduce((sum, line) => sum + Math.ceil(line.length / charsInLine), 0);
  return Math.max(1, lines) * lineHeightEm;
}
