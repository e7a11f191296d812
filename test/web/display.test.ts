import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageHouse, startPageHouse, type TestPage } from './support.ts';
import { looks, overhang, violations } from './violations.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

/** Returns a computed style of an element. Sizes are in pixels. */
const styleOf = (page: Page, selector: string, name: string) =>
  page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${name}')`);

const sizeOf = async (page: Page, selector: string, name: string): Promise<number> =>
  Number.parseFloat(String(await styleOf(page, selector, name)));

/** Returns the HTML of texts whose contrast is below 7:1, measured by axe. */
async function faintTexts(page: Page): Promise<unknown> {
  await violations(page);
  return await page.evaluate(`axe.run({ runOnly: ['color-contrast-enhanced'] })
    .then(({ violations }) => violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)))`);
}

async function openDisplay({ page }: TestPage, isPhone: boolean): Promise<void> {
  if (isPhone) await page.getByRole('button', { name: 'Chats' }).click();
  await page.getByText('Settings').click();
  await page.getByRole('button', { name: 'Display and notifications' }).click();
  await page.getByRole('dialog').getByRole('group', { name: 'Text size' }).waitFor();
}

const choose = (page: Page, group: string, value: string) =>
  page.getByRole('dialog').getByRole('group', { name: group }).getByLabel(value, { exact: true }).check();

describe('the display settings', { timeout: 60_000 }, () => {
  it.each(looks)('apply immediately and are stored: %s', async (look, options) => {
    const opened = await house.open('demo', options);
    const { page } = opened;
    await opened.say('Show me a table');
    await opened.answer();
    const size = await sizeOf(page, '.reply .markdown', 'font-size');
    await openDisplay(opened, look === 'phone');
    const gap = await sizeOf(page, '.display-dialog', 'padding-top');
    expect(await violations(page)).toEqual([]);
    await choose(page, 'Text size', 'Largest');
    await choose(page, 'Spacing', 'Compact');
    await choose(page, 'Contrast', 'High');
    await choose(page, 'Motion', 'Reduced');
    expect(await sizeOf(page, '.reply .markdown', 'font-size')).toBeCloseTo(size * 1.3125);
    expect(await sizeOf(page, '.display-dialog', 'padding-top')).toBeLessThan(gap);
    expect(await violations(page)).toEqual([]);
    expect(await faintTexts(page)).toEqual([]);
    expect(await overhang(page)).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.reload();
    await page.locator('.reply .markdown').waitFor();
    expect(await sizeOf(page, '.reply .markdown', 'font-size')).toBeCloseTo(size * 1.3125);
    expect(await styleOf(page, '.button, .round', 'transition-duration')).toMatch(/^1e-05s/);
    expect(await violations(page)).toEqual([]);
    expect(await faintTexts(page)).toEqual([]);
    expect(await overhang(page)).toBe(0);
    expect(opened.troubles).toEqual({ outside: [], faults: [] });
  });

  it('follow the system settings and their changes if the user chose no value', async () => {
    const { page } = await house.openAt(`/#key=${callerKey}`, { contrast: 'more', reducedMotion: 'reduce' });
    await page.locator('#message').waitFor();
    const marks = () => page.evaluate('({ ...document.documentElement.dataset })');
    expect(await marks()).toMatchObject({ contrast: 'more', motion: 'less' });
    await page.emulateMedia({ contrast: 'no-preference', reducedMotion: 'no-preference' });
    await expect.poll(marks).toMatchObject({ contrast: 'usual', motion: 'usual' });
  });
});
