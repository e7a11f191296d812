import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainReply, text } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { type PageFront, startPageFront } from './page-front.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;
let front: PageFront;

beforeAll(async () => {
  fixture = await startPageFixture({ page: { conversations: 'browser' } });
  front = await startPageFront(fixture.service.url);
});

afterEach(() => front.comeBack());

afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

const isDrawn = `[...document.fonts].some(({ family, status }) => family.includes('Public Sans') && status === 'loaded')`;
const requestTimes = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('public-sans')).map(({ startTime }) => startTime)`;
/** Position and height of all elements with text. */
const boxes = `[...document.querySelectorAll('h1, p, button, a, label, textarea')]
  .map((each) => each.getBoundingClientRect())
  .filter(({ width }) => width > 1)
  .map(({ top, height }) => [Math.round(top), Math.round(height)])`;

/** Width of the longest visible paragraph. */
const width = `(() => {
  const range = document.createRange();
  const texts = [...document.querySelectorAll('p')].filter((each) => each.checkVisibility()).sort((one, other) => other.textContent.length - one.textContent.length);
  range.selectNodeContents(texts[0]);
  return [...range.getClientRects()].reduce((sum, rect) => sum + rect.width, 0);
})()`;

const untilDrawn = (page: Page) => expect.poll(() => page.evaluate(isDrawn), { timeout: 30_000 }).toBe(true);

describe('the typeface', () => {
  it('is one file of at most 50 kB', async () => {
    const { size } = await stat(fileURLToPath(new URL('../../web/src/typeface/public-sans.woff2', import.meta.url)));
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThan(50_000);
  });

  it.each([
    ['/', 'label'],
    [`/#key=${callerKey}`, '.starter'],
  ])('loads after the page is usable and does not move the layout: %s', async (address, usable) => {
    // An address without the page, so that no earlier load requests the typeface.
    const { page, issues } = await fixture.openAt('/nothing-here');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/*public-sans*', async (route) => {
      await held;
      await route.continue();
    });
    const fontRequest = page.waitForRequest(/public-sans/);
    await page.goto(`${fixture.service.url}${address}`);
    await fontRequest;
    expect(await page.locator(usable).count()).toBeGreaterThan(0);
    expect(await page.evaluate(isDrawn)).toBe(false);
    const before = (await page.evaluate(boxes)) as readonly (readonly [number, number])[];
    expect(before.length).toBeGreaterThan(2);
    const widthBefore = Number(await page.evaluate(width));
    release();
    await untilDrawn(page);
    await expect.poll(() => page.evaluate(requestTimes)).toHaveLength(1);
    expect(await page.evaluate(boxes)).toEqual(before);
    expect(Number(await page.evaluate(width)) / widthBefore).toBeCloseTo(1, 1.7);
    expect(await page.evaluate(`document.fonts.check('16px "Public Sans"')`)).toBe(true);
    // Full-pixel letter spacing would tear words apart.
    const rendered = `[...document.querySelectorAll('body, button, input, textarea')].map((each) => getComputedStyle(each).textRendering)`;
    expect(new Set((await page.evaluate(rendered)) as readonly string[])).toEqual(new Set(['geometricprecision']));
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('lays out an answer and a message with a word of 40,000 characters quickly', async () => {
    const word = 'a'.repeat(40_000);
    fixture.upstream.script(eventsReply(...plainReply(word)));
    const { page, sendMessage, readAnswer } = await fixture.open('scripted');
    await untilDrawn(page);
    await sendMessage(`${word} asked`);
    await readAnswer();
    const turns = "document.querySelector('.turns')";
    const layoutMs = `((startedMs) => (${turns}.style.width = '400px', ${turns}.offsetHeight, performance.now() - startedMs))(performance.now())`;
    // With kerning, the layout takes at least 2,000 ms.
    expect(await page.evaluate(layoutMs)).toBeLessThan(1_000);
  });

  it('draws a suggestion with a very long word without kerning', async () => {
    const { page } = await fixture.open('demo');
    await page.route('**/configuration', (route) => route.fulfill({ json: { starters: ['a'.repeat(2_000)] } }));
    await page.evaluate("location.hash = '#/?with=scripted'");
    await page.locator('.starter', { hasText: 'aaaa' }).waitFor();
    const kerning =
      "getComputedStyle(document.querySelector('.starter > span') ?? document.querySelector('.starter')).fontKerning";
    expect(await page.evaluate(kerning)).toBe('none');
  });

  it('is not applied while an answer is in progress', async () => {
    const { page, sendMessage, readAnswer } = await fixture.openAt('/nothing-here');
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { promise: enough, resolve: finish } = Promise.withResolvers<void>();
    await page.route('**/*public-sans*', (route) => held.then(() => route.continue()));
    const fontRequest = page.waitForRequest(/public-sans/);
    await page.goto(fixture.service.url);
    fixture.upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(text('It begins'));
      await enough;
      exchange.done();
    });
    await page.evaluate(`location.hash = '#key=${callerKey}'`);
    await page.locator('#message').waitFor();
    await page.evaluate("location.hash = '#/?with=scripted'");
    await page.locator('.picker', { hasText: 'Scripted' }).waitFor();
    await fontRequest;
    await sendMessage('Begin');
    await page.locator('.markdown[aria-busy="true"]').waitFor();
    const fontResponse = page.waitForResponse(/public-sans/);
    release();
    await (await fontResponse).finished();
    await page.waitForTimeout(1_500);
    expect(await page.evaluate(isDrawn)).toBe(false);
    finish();
    await readAnswer();
    await untilDrawn(page);
  });

  it('is not loaded if the browser saves data', async () => {
    const { page } = await fixture.openAt('/nothing-here');
    const script = await page.addInitScript(`Object.defineProperty(navigator, 'connection', { value: { saveData: true } })`);
    await page.goto(fixture.service.url);
    await page.getByLabel('Key').waitFor();
    await page.waitForTimeout(2_500);
    expect(await page.evaluate(requestTimes)).toEqual([]);
    // Later tests use this page again.
    await script.dispose();
  });

  it('is cached with the page and available immediately without a network', async () => {
    const { page } = await fixture.browser.open(`${front.url}/#key=${callerKey}`, { serviceWorkers: 'allow' });
    await page.locator('.starter').first().waitFor();
    const isCached = `navigator.serviceWorker.controller?.state === 'activated'`;
    await expect.poll(() => page.evaluate(isCached), { timeout: 60_000 }).toBe(true);
    front.goAway();
    await page.reload();
    await untilDrawn(page);
  });
});
