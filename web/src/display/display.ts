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

const keptAs = 'parley display';
const wishes = { contrast: '(prefers-contrast: more)', motion: '(prefers-reduced-motion: reduce)' } as const;

/** What was chosen in this browser. */
export function readDisplay(): Display {
  const kept = tryParseJson(localStorage.getItem(keptAs) ?? '');
  const said = isJsonObject(kept) ? kept : {};
  const one = <Value>(values: readonly Value[], wanted: unknown): Value | undefined => values.find((each) => each === wanted);
  return {
    textSize: one(textSizes, said.textSize) ?? 'medium',
    density: one(densities, said.density) ?? 'roomy',
    contrast: one(contrasts, said.contrast) ?? 'system',
    motion: one(motions, said.motion) ?? 'system',
  };
}

/** Keeps what is chosen, and draws the page so. */
export function keepDisplay(display: Display): void {
  localStorage.setItem(keptAs, JSON.stringify(display));
  showDisplay();
}

/** Draws the page as was chosen, and again when the system or another tab wants it otherwise. */
export function followDisplay(): void {
  showDisplay();
  for (const wish of Object.values(wishes)) matchMedia(wish).addEventListener('change', showDisplay);
  addEventListener('storage', ({ key }) => key === keptAs && showDisplay());
}

/** The styles ask for these marks alone: what the system wants and what was chosen is one thing to them. */
function showDisplay(): void {
  const { textSize, density, contrast, motion } = readDisplay();
  const { dataset } = document.documentElement;
  dataset.textSize = textSize;
  dataset.density = density;
  dataset.contrast = contrast === 'more' || matchMedia(wishes.contrast).matches ? 'more' : 'usual';
  dataset.motion = motion === 'less' || matchMedia(wishes.motion).matches ? 'less' : 'usual';
}
