import { toObject, tryParseJson } from '#base/json/json.ts';

export const textSizes = ['small', 'medium', 'large', 'largest'] as const;
export const densities = ['roomy', 'compact'] as const;
export const contrasts = ['system', 'more'] as const;
export const motions = ['system', 'less'] as const;

/** Display preferences of the user. `system` follows the browser. */
export interface Display {
  readonly textSize: (typeof textSizes)[number];
  readonly density: (typeof densities)[number];
  readonly contrast: (typeof contrasts)[number];
  readonly motion: (typeof motions)[number];
}

const storageKey = 'parley display';
const mediaQueries = { contrast: '(prefers-contrast: more)', motion: '(prefers-reduced-motion: reduce)' } as const;

/** Returns the preferences of this browser. */
export function readDisplay(): Display {
  const values = toObject(tryParseJson(localStorage.getItem(storageKey) ?? ''));
  const pick = <Value>(values: readonly Value[], value: unknown): Value | undefined => values.find((item) => item === value);
  return {
    textSize: pick(textSizes, values.textSize) ?? 'medium',
    density: pick(densities, values.density) ?? 'roomy',
    contrast: pick(contrasts, values.contrast) ?? 'system',
    motion: pick(motions, values.motion) ?? 'system',
  };
}

/** Stores the preferences and applies them. */
export function saveDisplay(display: Display): void {
  localStorage.setItem(storageKey, JSON.stringify(display));
  applyDisplay();
}

/** Applies the preferences, and applies them again when the system or another tab changes them. */
export function watchDisplay(): void {
  applyDisplay();
  for (const mediaQuery of Object.values(mediaQueries)) matchMedia(mediaQuery).addEventListener('change', applyDisplay);
  addEventListener('storage', ({ key }) => key === storageKey && applyDisplay());
}

/** Sets the attributes that the styles depend on. They combine the system's preferences and the user's. */
function applyDisplay(): void {
  const { textSize, density, contrast, motion } = readDisplay();
  const { dataset } = document.documentElement;
  dataset.textSize = textSize;
  dataset.density = density;
  dataset.contrast = contrast === 'more' || matchMedia(mediaQueries.contrast).matches ? 'more' : 'usual';
  dataset.motion = motion === 'less' || matchMedia(mediaQueries.motion).matches ? 'less' : 'usual';
}
