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
 * Replaces speech synthesis, because the headless shell has no voices. The fake records each text and continues when the test
 * calls `readOn`.
 */
const buildFakeVoices = (voices: readonly object[]) => `{
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

async function openWithVoices(voices: readonly object[], options = {}): Promise<TestPage> {
  const opened = await fixture.open('demo', options);
  await opened.page.evaluate(buildFakeVoices(voices));
  await opened.sendMessage('Hello');
  await opened.readAnswer();
  await opened.page.getByRole('button', { name: 'Copy' }).first().waitFor();
  return opened;
}

const readUtterances = (page: Page) => page.evaluate('asked') as Promise<readonly (readonly [string, string])[]>;

describe('an answer that is read aloud', () => {
  it.each(viewports)('is read sentence by sentence with a local voice until the user stops it: %s', async (_, options) => {
    const opened = await openWithVoices([remote, own], options);
    const { page } = opened;
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    const answerText = (await page.locator('.reply .markdown').innerText()).replaceAll(/\s+/g, ' ');
    await page.getByRole('button', { name: 'Read aloud' }).click();
    await page.getByRole('button', { name: 'Stop reading' }).waitFor();
    await expect.poll(async () => (await readUtterances(page)).length).toBe(1);
    const [[first = '', voice] = []] = await readUtterances(page);
    expect([answerText.startsWith(first), voice]).toEqual([true, 'Own']);
    await page.evaluate('readOn()');
    await expect.poll(async () => (await readUtterances(page)).length).toBe(2);
    await page.getByRole('button', { name: 'Stop reading' }).click();
    await page.getByRole('button', { name: 'Read aloud' }).waitFor();
    expect((await readUtterances(page)).length).toBe(2);
    await opened.sendMessage('And again');
    await opened.readAnswer();
    await page.getByRole('button', { name: 'Read aloud' }).nth(1).waitFor();
    await page.getByRole('button', { name: 'Read aloud' }).first().click();
    await page.getByRole('button', { name: 'Stop reading' }).waitFor();
    await page.getByRole('button', { name: 'Read aloud' }).click();
    await expect.poll(async () => (await readUtterances(page)).length).toBe(4);
    await expect.poll(() => page.getByRole('button', { name: 'Stop reading' }).count()).toBe(1);
    expect(opened.issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('is not offered if all voices are remote or no voice exists', async () => {
    for (const voices of [[remote], []]) {
      const { page } = await openWithVoices(voices);
      expect(await page.getByRole('button', { name: 'Read aloud' }).count()).toBe(0);
    }
  });
});
