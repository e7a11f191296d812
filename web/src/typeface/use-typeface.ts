import { useEffect } from 'react';
import { isSavingData } from '../offline/use-offline-shell.ts';
import fontUrl from './public-sans.woff2?url';

/** Delay after the page is usable, so that required data loads first. */
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
 * Loads the typeface once. If this fails, the page keeps the fallback font. Applies the typeface after the end of an answer, because
 * drawing the answer again would drop frames. Does not wait if the page opened during an answer, which can take minutes.
 */
async function loadTypeface(): Promise<void> {
  const wasIdle = !isAnswering();
  const { fonts } = document;
  const isLoaded = (): boolean => [...fonts].some(({ family }) => /^"?Public Sans"?$/.test(family));
  if (isLoaded()) return;
  const face = new FontFace('Public Sans', `url(${fontUrl})`, { weight: '400 700' });
  const loadedFace = await face.load().catch(() => undefined);
  while (loadedFace && wasIdle && isAnswering()) await pause();
  if (loadedFace && !isLoaded()) fonts.add(loadedFace);
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));
