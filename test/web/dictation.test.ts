import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

/**
 * Replaces speech recognition, which the headless shell lacks, with a fake. The fake supports the languages of `localLanguages`
 * on the device and reports the text that the test passes.
 */
const buildFakeRecognition = (localLanguages: readonly string[]) => `{
  globalThis.heard = [];
  globalThis.SpeechRecognition = class extends EventTarget {
    static available = async ({ langs }) => (langs.every((lang) => ${JSON.stringify(localLanguages)}.includes(lang)) ? 'available' : 'unavailable');
    start() {
      heard.push([this.lang, this.processLocally === true]);
      globalThis.sayAloud = (...pieces) => {
        const results = pieces.map((transcript) => [{ transcript }]);
        this.dispatchEvent(Object.assign(new Event('result'), { results }));
      };
      globalThis.refuse = (error) => {
        this.dispatchEvent(Object.assign(new Event('error'), { error }));
        this.dispatchEvent(new Event('end'));
      };
    }
    stop() { this.dispatchEvent(new Event('end')); }
  };
}`;

/** Selects in the settings where speech is recognized. */
async function choose(page: Page, where: string): Promise<void> {
  const drawer = page.getByRole('button', { name: 'Show chats' });
  const isPhone = await drawer.isVisible();
  if (isPhone) await drawer.click();
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Display and notifications' }).click();
  const dialog = page.getByRole('dialog').last();
  await dialog.getByRole('group', { name: 'Dictation' }).getByLabel(where).check();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  await dialog.getByRole('button', { name: 'Close' }).click();
  if (isPhone) await page.getByRole('button', { name: 'Close' }).click();
}

async function openWithRecognition(localLanguages: readonly string[], options = {}): Promise<TestPage> {
  const opened = await fixture.open('demo', options);
  await opened.page.evaluate(buildFakeRecognition(localLanguages));
  await opened.sendMessage('Hello');
  await opened.readAnswer();
  return opened;
}

const readDraft = (page: Page) => page.locator('#message').inputValue();

describe('dictation', () => {
  it.each(viewports)(
    'appends the speech to the message on this device until the message is sent or the user stops it: %s',
    async (look, options) => {
      const opened = await openWithRecognition(['en'], options);
      const { page } = opened;
      expect(await page.getByRole('button', { name: 'Dictate' }).count()).toBe(0);
      await choose(page, 'On this device');
      await page.locator('#message').fill('Dear all,');
      await page.getByRole('button', { name: 'Dictate' }).click();
      await page.getByText('Your speech becomes text on this device.').waitFor();
      expect(await findViolations(page)).toEqual([]);
      expect(await measureOverflow(page)).toBe(0);
      const folder = process.env.PICTURES;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/dictation-${look}.png` });
      await page.evaluate("sayAloud('count to', ' three')");
      await expect.poll(() => readDraft(page)).toBe('Dear all, count to three');
      await page.getByRole('button', { name: 'Stop dictating' }).click();
      await page.evaluate("sayAloud('count to', ' four')");
      expect(await readDraft(page)).toBe('Dear all, count to three');

      await page.getByRole('button', { name: 'Dictate' }).click();
      await page.evaluate("sayAloud('and out')");
      await expect.poll(() => readDraft(page)).toBe('Dear all, count to three and out');
      await page.keyboard.press('Escape');
      await page.locator('#message').press('Enter');
      await page.locator('.question', { hasText: 'Dear all, count to three and out' }).waitFor();
      await page.evaluate("sayAloud('too late')");
      expect(await readDraft(page)).toBe('');
      await page.getByRole('button', { name: 'Dictate' }).waitFor();
      expect(await page.evaluate('heard')).toEqual([
        ['en', true],
        ['en', true],
      ]);
      expect(opened.issues).toEqual({ externalRequests: [], errors: [] });
    },
  );

  it('uses the service of the browser’s maker only after the user allows it, and shows a notice about it', async () => {
    const { page } = await openWithRecognition([]);
    await choose(page, 'On this device');
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Display and notifications' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('if your browser can turn speech into text on this device').waitFor();
    expect(await page.getByRole('button', { name: 'Dictate', includeHidden: true }).count()).toBe(0);
    await dialog.getByLabel('Online if needed').check();
    await dialog.getByText('your speech is sent to the company that makes the browser').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Dictate' }).click();
    await page.getByText('Your speech is sent to the company that makes your browser').waitFor();
    expect(await page.evaluate('heard')).toEqual([['en', false]]);
    await page.evaluate("refuse('not-allowed')");
    await page.getByText('Allow the microphone for this page').waitFor();
    await page.getByRole('button', { name: 'Dictate' }).waitFor();
  });
});
