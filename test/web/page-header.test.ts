import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const shadowScript = `getComputedStyle(document.querySelector('.page-header')).boxShadow`;
/** Matches a header without a visible shadow, including the first frame of the shadow animation. */
const noShadow = /^none$| 0px 0px 0px$|rgba\(0, 0, 0, 0\)/;
const visibleShadow = / 1px 0px 0px$/;
const titleOpacityScript = `Number(getComputedStyle(document.querySelector('.page-name')).opacity)`;
const scroll = (page: Page, top: number) => page.evaluate(`document.querySelector('.sheet').scrollTop = ${top}`);

async function openAt(place: string): Promise<Page> {
  const { page } = await fixture.openAt(`/#key=${callerKey}`, { viewport: { width: 390, height: 300 } });
  await page.locator('#message').waitFor();
  await page.evaluate(`location.hash = '#/${place}'`);
  await page.locator('.sheet h1').waitFor();
  return page;
}

it.each(['usage', 'build/new'])('draws a line under the header if the view is scrolled: %s', async (place) => {
  const page = await openAt(place);
  await expect.poll(() => page.evaluate(shadowScript)).toMatch(noShadow);
  // The view may still be too short to be scrolled.
  await expect.poll(() => scroll(page, 200).then(() => page.evaluate(shadowScript))).toMatch(visibleShadow);
  await scroll(page, 0);
  await expect.poll(() => page.evaluate(shadowScript)).toMatch(noShadow);
});

it('draws a line under the header of a chat if the chat is scrolled', async () => {
  const { page, sendMessage, readAnswer } = await fixture.open('demo', { viewport: { width: 390, height: 400 } });
  await sendMessage('Count to 300');
  await readAnswer();
  await page.evaluate(`document.querySelector('.thread').scrollTop = 0`);
  await expect.poll(() => page.evaluate(shadowScript)).toMatch(noShadow);
  await page.evaluate(`document.querySelector('.thread').scrollTop = 100`);
  await expect.poll(() => page.evaluate(shadowScript)).toMatch(visibleShadow);
});

it('shows the name of a view in the header once its title has scrolled out of sight', async () => {
  const page = await openAt('usage');
  expect(await page.evaluate(titleOpacityScript)).toBe(0);
  await scroll(page, 200);
  await expect.poll(() => page.evaluate(titleOpacityScript)).toBe(1);
});

it('closes the open menu if the window becomes wide, so that the page can be used', async () => {
  const { page } = await fixture.openAt(`/#key=${callerKey}`, { viewport: { width: 390, height: 844 } });
  await page.getByRole('button', { name: 'Show chats' }).click();
  await page.locator('.sidebar.open').waitFor();
  await page.setViewportSize({ width: 844, height: 390 });
  await page.locator('.sidebar-backdrop').waitFor({ state: 'detached' });
  await page.locator('#message').click();
  await page.keyboard.type('Works');
  expect(await page.locator('#message').inputValue()).toBe('Works');
});
