import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Buttons that are nothing but a drawing and lack a name or a tooltip. */
const nameless = `[...document.querySelectorAll('button, summary')]
  .filter((each) => each.checkVisibility() && each.querySelector('svg') !== null && each.textContent.trim() === '')
  .filter((each) => !each.title || !each.ariaLabel)
  .map((each) => 'nameless: ' + each.outerHTML.slice(0, 120))`;

/** Half-way to another colour nothing has the contrast it will have. What never ends, or follows the scrolling, is not waited for. */
const settled = `Promise.allSettled(document.getAnimations()
  .filter(({ effect, timeline }) => timeline instanceof DocumentTimeline && effect.getComputedTiming().iterations !== Infinity)
  .map(({ finished }) => finished)).then(() => undefined)`;

/** What axe finds wrong with what is shown now, and buttons without words. */
export async function violations(page: Page): Promise<readonly string[]> {
  const said = await axeViolations(page);
  return [...said, ...((await page.evaluate(nameless)) as readonly string[])];
}

/** What axe finds wrong with what is shown now. What it finds right stays in the page: it is long. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe.source);
  await page.evaluate(settled);
  const found = await page.evaluate('axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)');
  return (found as readonly Violation[]).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  );
}

/** How far the page reaches out of the window at its side, in pixels. */
export async function overhang(page: Page): Promise<number> {
  return Number(await page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)'));
}

/** The ways the page may look. */
export const looks: readonly (readonly [string, BrowserContextOptions])[] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }],
];
