import { Suspense } from 'react';
import { lazyView } from '../parts/lazy-view.tsx';

interface FormulaProps {
  readonly text: string;
  readonly isBlock: boolean;
}

const maxChars = 5000;
/** Loaded once for all formulas, because each import would search the complete page for its style sheet. */
const TypesetFormula = lazyView(() => import('./typeset-formula.tsx').then(({ TypesetFormula: view }) => view));

/** A formula. Its source is shown until it is rendered, and if rendering fails. */
export function Formula({ text, isBlock }: FormulaProps) {
  return (
    <span className={isBlock ? 'formula block' : 'formula'}>
      {text.length > maxChars ? (
        text
      ) : (
        <Suspense fallback={text}>
          <TypesetFormula text={text} isBlock={isBlock} />
        </Suspense>
      )}
    </span>
  );
}
