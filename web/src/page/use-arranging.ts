import { useCallback } from 'react';
import type { Arrangement } from '../conversation/arrangement.ts';
import type { Head } from '../conversation/database.ts';
import { useWords } from '../words/words.tsx';
import { usePage } from './page.tsx';

/** Changes how a conversation stands in the list, and tells those who listen what came of it. */
export function useArranging({ id }: Head): (arrangement: Partial<Arrangement>, said?: string) => Promise<void> {
  const words = useWords();
  const { library, announce } = usePage();
  return useCallback(
    async (arrangement, said = '') => {
      const isDone = await library.arrange(id, arrangement).catch(() => false);
      announce(isDone ? said : words.arrangingFailed);
    },
    [id, library, announce, words],
  );
}
