import katex from 'katex';
import { useLayoutEffect, useRef } from 'react';
import 'katex/dist/katex.min.css';

/** A formula as it is printed. Nothing it says can load or link anything. */
export function SetFormula({ text, isBlock }: { readonly text: string; readonly isBlock: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (place.current === null) return;
    const bounds = { throwOnError: false, trust: false, strict: 'ignore', maxExpand: 200, maxSize: 40 } as const;
    katex.render(text, place.current, { displayMode: isBlock, ...bounds });
  }, [text, isBlock]);
  return <span ref={place} />;
}
