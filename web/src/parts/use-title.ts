import { useEffect } from 'react';
import { useWords } from '../words/words.tsx';

/** Names the window by what it shows, and the product. */
export function useTitle(title: string): void {
  const { product } = useWords();
  useEffect(() => {
    document.title = `${title} · ${product}`;
  }, [title, product]);
}
