import { useEffect } from 'react';
import { isSavingData } from '../offline/use-offline-shell.ts';
import file from './public-sans.woff2?url';

/** Delay after the page is usable, after which required data no longer uses the network. */
const delayMs = 1_000;

/** Loads the typeface after the page is usable, or immediately if the browser stores the page. */
export function useTypeface(isUsable: boolean): void {
  useEffect(() => {
    if (navigator.serviceWorker?.controller) void loadTypeface();
    else if (isUsable && !isSavingData()) {
      const timer = setTimeout(loadTypeface, delayMs);
      return () => clearTimeout(timer);
    }
  }, [isUsable]);
}

const isAnswering = (): boolean => document.querySelector('.markdown[aria-busy="true"]') !== null;

/**
 * Loads the typeface once. If this fails, the page keeps the fallback font. The typeface waits for the end of an answer, because
 * drawing it again would lose frames. It does not wait if the page opened during an answer, which can take minutes.
 */
async function loadTypeface(): Promise<void> {
  const isOpenedIdle = !isAnswering();
  const { fonts } = document;
  const isReady = (): boolean => [...fonts].some(({ family }) => /^"?Public Sans"?$/.test(family));
  if (isReady()) return;
  const face = new FontFace('Public Sans', `url(${file})`, { weight: '400 700' });
  const loadedFace = await face.load().catch(() => undefined);
  while (loadedFace && isOpenedIdle && isAnswering()) await pause();
  if (loadedFace && !isReady()) fonts.add(loadedFace);
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));
