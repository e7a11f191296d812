import { useEffect, useRef } from 'react';

interface FormulaProps {
  readonly text: string;
  readonly isBlock: boolean;
}

const mostChars = 5000;

/** A formula; its source is shown until it is set, and where it cannot be. */
export function Formula({ text, isBlock }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let isGone = false;
    if (text.length > mostChars) return;
    void import('./set-formula.ts').then(({ setFormula }) => {
      if (!isGone && place.current !== null) setFormula(place.current, text, isBlock);
    });
    return () => {
      isGone = true;
    };
  }, [text, isBlock]);
  return (
    <span className={isBlock ? 'formula block' : 'formula'} key={text} ref={place}>
      {text}
    </span>
  );
}
