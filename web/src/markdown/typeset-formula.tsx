import katex from 'katex';
import { use, useLayoutEffect, useRef } from 'react';
import { FrameSchedulerContext } from './frame-scheduler.ts';
import 'katex/dist/katex.min.css';

/**
 * Renders a formula as soon as a frame has time for it, and shows its source until then. Formulas cannot load or link anything.
 */
export function TypesetFormula({ text, isBlock }: { readonly text: string; readonly isBlock: boolean }) {
  const element = useRef<HTMLSpanElement>(null);
  const scheduler = use(FrameSchedulerContext);
  useLayoutEffect(() => {
    const typeset = (): void => {
      if (element.current === null) return;
      const bounds = { throwOnError: false, trust: false, strict: 'ignore', maxExpand: 200, maxSize: 40 } as const;
      katex.render(text, element.current, { displayMode: isBlock, ...bounds });
    };
    if (scheduler === undefined) return typeset();
    return scheduler.add(typeset);
  }, [text, isBlock, scheduler]);
  return <span ref={element}>{text}</span>;
}
