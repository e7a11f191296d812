import type { BrowserContextOptions, Page } from 'playwright-core';
import { findAxeViolations } from '../../test/web/violations.ts';
import type { Figure } from './figure.ts';
import type { WebWorld } from './world.ts';

const phone: BrowserContextOptions = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
const displayModes: readonly (readonly [string, BrowserContextOptions])[] = [
  ['light desktop', { colorScheme: 'light' }],
  ['dark desktop', { colorScheme: 'dark' }],
  ['light phone', { ...phone, colorScheme: 'light' }],
  ['dark phone', { ...phone, colorScheme: 'dark' }],
];

const paths = ['build', 'build/new', 'files', 'usage', 'consent', 'consent/assistant'];

async function showEverything(page: Page): Promise<void> {
  await page.evaluate("location.hash = '#/?with=demo'");
  await page.locator('.picker', { hasText: 'Demo' }).waitFor();
  await page.locator('#message').fill('Show me everything');
  await page.keyboard.press('Enter');
  await page.locator('.reply').last().locator('.actions').waitFor();
}

/** Returns the axe violations of each view in each display mode. */
export async function measureAccessibility(world: WebWorld): Promise<readonly Figure[]> {
  const faults: string[] = [];
  for (const [mode, options] of displayModes) {
    const check = async (view: string, page: Page): Promise<void> => {
      for (const violation of await findAxeViolations(page)) faults.push(`${view}, ${mode}: ${violation.slice(0, 300)}`);
    };
    const arrival = await world.openBlank(options);
    await arrival.goto(world.service.url);
    await arrival.getByLabel('Key').waitFor();
    await check('signing in', arrival);
    await arrival.context().close();
    const page = await world.open(options);
    await check('beginning', page);
    await page.locator('.picker').click();
    await check('picker', page);
    await page.keyboard.press('Escape');
    await showEverything(page);
    await check('conversation', page);
    for (const path of paths) {
      await page.evaluate(`location.hash = '#/${path}'`);
      await page.locator('main h1').first().waitFor();
      await page.waitForLoadState('networkidle');
      await check(path, page);
    }
    await page.context().close();
  }
  const title = `axe in ${paths.length + 4} views, light and dark, desktop and phone`;
  return [{ title, max: 0, unit: '', value: faults.length, details: faults }];
}
