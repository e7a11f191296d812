import { useCallback } from 'react';
import type { Arrangement } from '../conversation/arrangement.ts';
import type { Head } from '../conversation/database.ts';
import { useWords } from '../words/words.tsx';
import { usePage } from './page.tsx';

/** Changes how a conversation stands in the list; resolves with whether that is done, and says so where it is not. */
export function useArranging({ id }: Head): (arrangement: Partial<Arrangement>) => Promise<boolean> {
  const words = useWords();
  const { library, announce } = usePage();
  return useCallback(
    async (arrangement) => {
      const isDone = await library.arrange(id, arrangement).catch(() => false);
      announce(isDone ? '' : words.arrangingFailed);
      return isDone;
    },
    [id, library, announce, words],
  );
}
