import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Returns a computed style of an element. Sizes are in pixels. */
const getStyle = (page: Page, selector: string, name: string) =>
  page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${name}')`);

const getSize = async (page: Page, selector: string, name: string): Promise<number> =>
  Number.parseFloat(String(await getStyle(page, selector, name)));

/** Returns the HTML of texts whose contrast is below 7:1, measured by axe. */
async function findFaintTexts(page: Page): Promise<unknown> {
  await findViolations(page);
  return await page.evaluate(`axe.run({ runOnly: ['color-contrast-enhanced'] })
    .then(({ violations }) => violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)))`);
}

async function openDisplay({ page }: TestPage, isPhone: boolean): Promise<void> {
  if (isPhone) await page.getByRole('button', { name: 'Chats' }).click();
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Display and notifications' }).click();
  await page.getByRole('dialog').getByRole('group', { name: 'Text size' }).waitFor();
}

const choose = (page: Page, group: string, value: string) =>
  page.getByRole('dialog').getByRole('group', { name: group }).getByLabel(value, { exact: true }).check();

describe('the display settings', () => {
  it.each(viewports)('apply immediately and are stored: %s', async (look, options) => {
    const opened = await fixture.open('demo', options);
    const { page } = opened;
    await opened.sendMessage('Show me a table');
    await opened.readAnswer();
    const size = await getSize(page, '.reply .markdown', 'font-size');
    await openDisplay(opened, look === 'phone');
    const gap = await getSize(page, '.display-dialog', 'padding-top');
    expect(await findViolations(page)).toEqual([]);
    await choose(page, 'Text size', 'Largest');
    await choose(page, 'Spacing', 'Compact');
    await choose(page, 'Contrast', 'High');
    await choose(page, 'Motion', 'Reduced');
    expect(await getSize(page, '.reply .markdown', 'font-size')).toBeCloseTo(size * 1.3125);
    expect(await getSize(page, '.display-dialog', 'padding-top')).toBeLessThan(gap);
    expect(await findViolations(page)).toEqual([]);
    expect(await findFaintTexts(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.reload();
    await page.locator('.reply .markdown').waitFor();
    expect(await getSize(page, '.reply .markdown', 'font-size')).toBeCloseTo(size * 1.3125);
    expect(await getStyle(page, '.button, .round', 'transition-duration')).toMatch(/^1e-05s/);
    expect(await findViolations(page)).toEqual([]);
    expect(await findFaintTexts(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    expect(opened.issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('follow the system settings and their changes if the user chose no value', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`, { contrast: 'more', reducedMotion: 'reduce' });
    await page.locator('#message').waitFor();
    const readMarks = () => page.evaluate('({ ...document.documentElement.dataset })');
    expect(await readMarks()).toMatchObject({ contrast: 'more', motion: 'less' });
    await page.emulateMedia({ contrast: 'no-preference', reducedMotion: 'no-preference' });
    await expect.poll(readMarks).toMatchObject({ contrast: 'usual', motion: 'usual' });
  });
});
