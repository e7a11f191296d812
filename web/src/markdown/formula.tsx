import { lazy, Suspense } from 'react';

interface FormulaProps {
  readonly text: string;
  readonly isBlock: boolean;
}

const maxChars = 5000;
/** Asked for once, however many formulas there are: each import would look through the whole page for its style sheet. */
const SetFormula = lazy(() => import('./set-formula.tsx').then(({ SetFormula: view }) => ({ default: view })));

/** A formula; its source is shown until it is set, and where it cannot be. */
export function Formula({ text, isBlock }: FormulaProps) {
  return (
    <span className={isBlock ? 'formula block' : 'formula'}>
      {text.length > maxChars ? (
        text
      ) : (
        <Suspense fallback={text}>
          <SetFormula text={text} isBlock={isBlock} />
        </Suspense>
      )}
    </span>
  );
}
