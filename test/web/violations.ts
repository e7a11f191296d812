import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';

/** What axe finds wrong with what is shown now. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate('axe.run({ resultTypes: ["violations"] })');
  const { violations: list } = found as { violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] };
  return list.map(
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
