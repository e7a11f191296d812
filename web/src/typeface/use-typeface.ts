import { useEffect } from 'react';
import { isSparing } from '../offline/is-sparing.ts';
import file from './public-sans.woff2?url';

/** So long after the page can be used, and nothing that it needs waits for the same network. */
const afterMs = 1_000;

/** Brings the typeface of the page once that can be used; at once where the browser keeps the page. */
export function useTypeface(isUsable: boolean): void {
  useEffect(() => {
    if (navigator.serviceWorker?.controller) void bring();
    else if (isUsable && !isSparing()) {
      const timer = setTimeout(bring, afterMs);
      return () => clearTimeout(timer);
    }
  }, [isUsable]);
}

/** Once and no more. The page is read in another font where it cannot be had. */
async function bring(): Promise<void> {
  const { fonts } = document;
  const isThere = (): boolean => [...fonts].some(({ family }) => /^"?Public Sans"?$/.test(family));
  if (isThere()) return;
  const face = new FontFace('Public Sans', `url(${file})`, { weight: '400 700' });
  const isLoaded = await face.load().then(
    () => true,
    () => false,
  );
  // An answer that is being written is not drawn anew in the middle: frames would be lost.
  while (isLoaded && document.querySelector('.markdown[aria-busy="true"]') !== null) await pause();
  if (isLoaded && !isThere()) fonts.add(face);
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, afterMs));
