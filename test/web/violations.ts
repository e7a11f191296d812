import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The minified source compiles faster. The browser compiles it for each checked page. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Icon buttons without a label or a tooltip. */
const nameless = `[...document.querySelectorAll('button, summary')]
  .filter((each) => each.checkVisibility() && each.querySelector('svg') !== null && each.textContent.trim() === '')
  .filter((each) => !each.title || !each.ariaLabel)
  .map((each) => 'nameless: ' + each.outerHTML.slice(0, 120))`;

const finite = `document.getAnimations()
  .filter(({ effect, timeline }) => timeline instanceof DocumentTimeline && effect.getComputedTiming().iterations !== Infinity)`;

/**
 * Ends running animations, because intermediate colors have another contrast. Animations in collapsed elements would never end.
 */
const endAnimations = `${finite}.forEach((animation) => animation.finish())`;

/** Returns the accessibility violations of the page in both color schemes, and icon buttons without a label or a tooltip. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  const found = await findAxeViolations(page);
  return [...found, ...((await page.evaluate(nameless)) as readonly string[])];
}

/** Returns the violations that axe finds. The other color scheme changes only colors, so only the contrast is checked in it. */
export async function findAxeViolations(page: Page): Promise<readonly string[]> {
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axeSource);
  await page.evaluate(endAnimations);
  const found = await runAxe(page, {});
  const isDark = await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches');
  const [scheme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  await page.emulateMedia({ colorScheme: other });
  await page.evaluate(endAnimations);
  const foundInOther = await runAxe(page, { runOnly: ['color-contrast'] });
  await page.emulateMedia({ colorScheme: scheme });
  await page.evaluate(endAnimations);
  return [...found, ...foundInOther.map((violation) => `${other}: ${violation}`)];
}

/** Transfers only the violations, because the other results are large. */
async function runAxe(page: Page, options: axe.RunOptions): Promise<readonly string[]> {
  // No rule that runs by default reads the style sheets that axe otherwise loads.
  const run = JSON.stringify({ resultTypes: ['violations'], preload: { assets: ['media'] }, ...options });
  const found = await page.evaluate(`axe.run(${run}).then(({ violations }) => violations)`);
  return (found as readonly Violation[]).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  );
}

/** Returns the horizontal overflow of the page in pixels. */
export async function measureOverflow(page: Page): Promise<number> {
  return Number(await page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)'));
}

/** Window sizes of the page. `violations` also checks the other color scheme. */
export const viewports: readonly (readonly [string, BrowserContextOptions])[] = [
  ['wide', { colorScheme: 'light' }],
  ['phone', { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }],
];
