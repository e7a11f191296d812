import { useEffect, useRef } from 'react';
import { readBrand } from '../page/brand.ts';
import { giveUpShell } from './give-up-shell.ts';
import { keepShell } from './keep-shell.ts';

/** So long after somebody came in, and nobody waits for it. */
const keepAfterMs = 3_000;

/** Keeps the page in the browser of one who signed in; gives up what is kept, whoever comes, where the operator says so. */
export function useKeptShell(isInside: boolean): void {
  const isAsked = useRef(false);
  useEffect(() => {
    if (!import.meta.env.PROD) return;
    // A browser that does not let it be kept has the page all the same.
    if (readBrand().offline === false) return void giveUpShell().catch(() => undefined);
    // Once for each load of the page: who signs in again has it, and its policy cannot be made twice.
    if (!isInside || isAsked.current) return;
    const timer = setTimeout(() => {
      isAsked.current = true;
      void keepShell().catch(() => undefined);
    }, keepAfterMs);
    return () => clearTimeout(timer);
  }, [isInside]);
}
