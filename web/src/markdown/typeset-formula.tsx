import katex from 'katex';
import { use, useLayoutEffect, useRef } from 'react';
import { FrameSchedulerContext } from './frame-scheduler.ts';
import 'katex/dist/katex.min.css';

/** Deeper formulas crash the tab. */
const maxDepth = 400;
/** The layout of larger formulas takes seconds. */
const maxElements = 10_000;

/**
 * Renders a formula as soon as a frame has time for it, and shows its source until then. Formulas cannot load or link anything.
 * The source of formulas that are too large stays.
 */
export function TypesetFormula({ text, isBlock }: { readonly text: string; readonly isBlock: boolean }) {
  const element = useRef<HTMLSpanElement>(null);
  const scheduler = use(FrameSchedulerContext);
  useLayoutEffect(() => {
    const typeset = (): void => {
      if (element.current === null) return;
      const bounds = { throwOnError: false, trust: false, strict: 'ignore', maxExpand: 200, maxSize: 40 } as const;
      const formula = document.createElement('span');
      katex.render(text, formula, { displayMode: isBlock, ...bounds });
      if (isDrawable(formula)) element.current.replaceChildren(formula);
    };
    if (scheduler === undefined) return typeset();
    return scheduler.add(typeset);
  }, [text, isBlock, scheduler]);
  return <span ref={element}>{text}</span>;
}

/** Returns whether the browser can lay out a formula. */
function isDrawable(formula: Element): boolean {
  let level = [formula];
  let count = 0;
  for (let depth = 0; depth < maxDepth && count < maxElements; depth += 1) {
    if (level.length === 0) return true;
    level = level.flatMap(({ children }) => [...children]);
    count += level.length;
  }
  return false;
}
