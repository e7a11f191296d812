import katex from 'katex';
import { use, useLayoutEffect, useRef } from 'react';
import { FrameWorkContext } from './frame-work.ts';
import 'katex/dist/katex.min.css';

/** Renders a formula. Its source is shown until its turn. Formulas cannot load or link anything. */
export function SetFormula({ text, isBlock }: { readonly text: string; readonly isBlock: boolean }) {
  const element = useRef<HTMLSpanElement>(null);
  const work = use(FrameWorkContext);
  useLayoutEffect(() => {
    const set = (): void => {
      if (element.current === null) return;
      const bounds = { throwOnError: false, trust: false, strict: 'ignore', maxExpand: 200, maxSize: 40 } as const;
      katex.render(text, element.current, { displayMode: isBlock, ...bounds });
    };
    if (work === undefined) return set();
    return work.add(set);
  }, [text, isBlock, work]);
  return <span ref={element}>{text}</span>;
}
