import { isJsonObject, tryParseJson } from '#base/json/json.ts';

export const textSizes = ['small', 'medium', 'large', 'largest'] as const;
export const densities = ['roomy', 'compact'] as const;
export const contrasts = ['system', 'more'] as const;
export const motions = ['system', 'less'] as const;

/** How the page is drawn for one who reads with these eyes; `system` is what the browser knows of them. */
export interface Display {
  readonly textSize: (typeof textSizes)[number];
  readonly density: (typeof densities)[number];
  readonly contrast: (typeof contrasts)[number];
  readonly motion: (typeof motions)[number];
}

const storageKey = 'parley display';
const mediaQueries = { contrast: '(prefers-contrast: more)', motion: '(prefers-reduced-motion: reduce)' } as const;

/** What was chosen in this browser. */
export function readDisplay(): Display {
  const stored = tryParseJson(localStorage.getItem(storageKey) ?? '');
  const values = isJsonObject(stored) ? stored : {};
  const pick = <Value>(values: readonly Value[], value: unknown): Value | undefined => values.find((item) => item === value);
  return {
    textSize: pick(textSizes, values.textSize) ?? 'medium',
    density: pick(densities, values.density) ?? 'roomy',
    contrast: pick(contrasts, values.contrast) ?? 'system',
    motion: pick(motions, values.motion) ?? 'system',
  };
}

/** Keeps what is chosen, and draws the page so. */
export function saveDisplay(display: Display): void {
  localStorage.setItem(storageKey, JSON.stringify(display));
  showDisplay();
}

/** Draws the page as was chosen, and again when the system or another tab wants it otherwise. */
export function followDisplay(): void {
  showDisplay();
  for (const mediaQuery of Object.values(mediaQueries)) matchMedia(mediaQuery).addEventListener('change', showDisplay);
  addEventListener('storage', ({ key }) => key === storageKey && showDisplay());
}

/** The styles ask for these marks alone: what the system wants and what was chosen is one thing to them. */
function showDisplay(): void {
  const { textSize, density, contrast, motion } = readDisplay();
  const { dataset } = document.documentElement;
  dataset.textSize = textSize;
  dataset.density = density;
  dataset.contrast = contrast === 'more' || matchMedia(mediaQueries.contrast).matches ? 'more' : 'usual';
  dataset.motion = motion === 'less' || matchMedia(mediaQueries.motion).matches ? 'less' : 'usual';
}
