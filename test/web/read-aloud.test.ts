import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageHouse, startPageHouse, type TestPage } from './support.ts';
import { looks, overhang, violations } from './violations.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

/**
 * Replaces speech synthesis, because the headless shell has no voices. The fake records each text and continues when the test
 * calls `readOn`.
 */
const voiced = (voices: readonly object[]) => `{
  const voices = ${JSON.stringify(voices)};
  globalThis.asked = [];
  let now;
  globalThis.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  Object.defineProperty(globalThis, 'speechSynthesis', { configurable: true, value: Object.assign(new EventTarget(), {
    getVoices: () => voices,
    speak(utterance) { now = utterance; asked.push([utterance.text, utterance.voice?.name]); },
    cancel() { const last = now; now = undefined; last?.onerror(); },
  }) });
  globalThis.readOn = () => now.onend();
}`;

const own = { name: 'Own', lang: 'en-GB', localService: true, default: true };
const remote = { name: 'Remote', lang: 'en-US', localService: false, default: false };

async function openVoiced(voices: readonly object[], options = {}): Promise<TestPage> {
  const opened = await house.open('demo', options);
  await opened.page.evaluate(voiced(voices));
  await opened.say('Hello');
  await opened.answer();
  await opened.page.getByRole('button', { name: 'Copy' }).first().waitFor();
  return opened;
}

const asked = (page: Page) => page.evaluate('asked') as Promise<readonly (readonly [string, string])[]>;

describe('an answer that is read aloud', { timeout: 60_000 }, () => {
  it.each(looks)('is read sentence by sentence with a local voice until the user stops it: %s', async (_, options) => {
    const opened = await openVoiced([remote, own], options);
    const { page } = opened;
    expect(await violations(page)).toEqual([]);
    expect(await overhang(page)).toBe(0);
    const said = (await page.locator('.reply .markdown').innerText()).replaceAll(/\s+/g, ' ');
    await page.getByRole('button', { name: 'Read aloud' }).click();
    await page.getByRole('button', { name: 'Stop reading' }).waitFor();
    await expect.poll(async () => (await asked(page)).length).toBe(1);
    const [[first = '', voice] = []] = await asked(page);
    expect([said.startsWith(first), voice]).toEqual([true, 'Own']);
    await page.evaluate('readOn()');
    await expect.poll(async () => (await asked(page)).length).toBe(2);
    await page.getByRole('button', { name: 'Stop reading' }).click();
    await page.getByRole('button', { name: 'Read aloud' }).waitFor();
    expect((await asked(page)).length).toBe(2);
    await opened.say('And again');
    await opened.answer();
    await page.getByRole('button', { name: 'Read aloud' }).nth(1).waitFor();
    await page.getByRole('button', { name: 'Read aloud' }).first().click();
    await page.getByRole('button', { name: 'Stop reading' }).waitFor();
    await page.getByRole('button', { name: 'Read aloud' }).click();
    await expect.poll(async () => (await asked(page)).length).toBe(4);
    await expect.poll(() => page.getByRole('button', { name: 'Stop reading' }).count()).toBe(1);
    expect(opened.troubles).toEqual({ outside: [], faults: [] });
  });

  it('is not offered if all voices are remote or no voice exists', async () => {
    for (const voices of [[remote], []]) {
      const { page } = await openVoiced(voices);
      expect(await page.getByRole('button', { name: 'Read aloud' }).count()).toBe(0);
    }
  });
});
