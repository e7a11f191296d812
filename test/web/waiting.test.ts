import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply, text } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { errorReply, eventsReply, silence, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { usersDemoPaceMs } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations } from './violations.ts';

allowNonconformingUpstreams();

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture({}, { demoPaceMs: usersDemoPaceMs });
});

afterAll(() => fixture[Symbol.asyncDispose]());

describe('a pending answer', () => {
  it('is indicated, also after ten seconds, with a notice if the page is offline', async () => {
    fixture.upstream.script(silence);
    const { page, sendMessage } = await fixture.open('raw');
    // The clock of the page continues to run, so a slow machine may show a second less.
    await page.clock.install();
    await sendMessage('Hello');
    const waiting = page.locator('.waiting');
    await waiting.getByText('Thinking…').waitFor();
    await page.clock.fastForward(9_000);
    await waiting.getByText('Thinking…').waitFor();
    await page.clock.fastForward(2_000);
    await waiting.getByText('Still waiting').waitFor();
    await page.context().setOffline(true);
    await waiting.getByText('You are offline.').waitFor();
    await page.context().setOffline(false);
    await waiting.getByText('Still waiting').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
  });

  it('shows the reason and the time of each automatic retry until it arrives', async () => {
    fixture.upstream.script(
      errorReply(429, { 'retry-after': '12' }),
      errorReply(429, { 'retry-after': '3' }),
      eventsReply(...plainReply('Here it is.')),
    );
    const { page, sendMessage, readAnswer, issues } = await fixture.open('raw');
    await page.clock.install();
    await sendMessage('Hello');
    const waiting = page.locator('.waiting');
    await waiting.getByText(/^There are too many requests right now\. Trying again in 1[0-2] s \(1 of 3\)\.$/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.clock.fastForward(5_000);
    await waiting.getByText(/Trying again in [4-7] s \(1 of 3\)\./).waitFor();
    const requestCount = fixture.upstream.requests.length;
    await page.clock.fastForward(8_000);
    await waiting.getByText(/Trying again in [1-3] s \(2 of 3\)\./).waitFor();
    expect(fixture.upstream.requests.length).toBe(requestCount + 1);
    await page.clock.fastForward(4_000);
    expect(await readAnswer()).toBe('Here it is.');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('fails after too many rejections or a long delay, and Stop ends the retries', async () => {
    const { page, sendMessage } = await fixture.open('raw');
    await page.clock.install();
    fixture.upstream.script(...Array.from({ length: 4 }, () => errorReply(429, { 'retry-after': '1' })));
    await sendMessage('One');
    for (const number of [1, 2, 3]) {
      await page.locator('.waiting').getByText(`(${number} of 3)`).waitFor();
      await page.clock.fastForward(1_500);
    }
    await page.locator('.answer-error-title').getByText('There are too many requests').waitFor();
    fixture.upstream.script(errorReply(429, { 'retry-after': '90' }));
    await sendMessage('Two');
    await page.getByText(/Try again in 2 minutes \(\d\d:\d\d\)\./).waitFor();
    fixture.upstream.script(errorReply(429, { 'retry-after': '10' }));
    await sendMessage('Three');
    await page.locator('.waiting').getByText('(1 of 3)').waitFor();
    const requestCount = fixture.upstream.requests.length;
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped this answer.').waitFor();
    await page.clock.fastForward(20_000);
    expect(fixture.upstream.requests.length).toBe(requestCount);
  });

  it('arrives although a part of the page cannot be loaded, and the session stays', async () => {
    const firstExchange = Promise.withResolvers<UpstreamExchange>();
    fixture.upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant' }), text('One'));
      firstExchange.resolve(exchange);
    });
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    await page.route(/files-page/, (route) => route.abort());
    await sendMessage('Count');
    await page.locator('.reply .markdown').getByText('One').waitFor();
    await page.evaluate("location.hash = '#/files'");
    await page.getByRole('heading', { name: 'This part of the page cannot be shown' }).waitFor();
    const exchange = await firstExchange.promise;
    await exchange.events(text(' two'), finish());
    exchange.done();
    await page.locator('.conversation-item', { hasText: 'Count' }).getByRole('link').click();
    expect(await readAnswer()).toBe('One two');
    // The page loads the part again without a reload.
    await page.unroute(/files-page/);
    await page.evaluate("location.hash = '#/files'");
    await page.getByRole('heading', { name: 'Files', exact: true }).first().waitFor();
  });
});

it('shows an error for a dialog that cannot be loaded and keeps the page usable', async () => {
  const { page } = await fixture.open('demo');
  await page.locator('#message').fill('A draft');
  await page.route(/transfer-dialog|code-dialog/, (route) => route.abort());
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  for (const name of ['Import and export…', 'Use from code']) {
    await page.getByRole('button', { name }).click();
    const missing = page.getByRole('dialog', { name: 'This part of the page cannot be shown' });
    await missing.getByRole('button', { name: 'Close' }).click();
    await missing.waitFor({ state: 'detached' });
    expect(await page.locator('#message').inputValue()).toBe('A draft');
  }
  await page.unroute(/transfer-dialog|code-dialog/);
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Import and export…' }).click();
  await page.getByRole('dialog', { name: 'Import and export' }).waitFor();
});

it('keeps the focus in the message field after Stop with the keyboard', async () => {
  const { page, sendMessage } = await fixture.open('demo');
  await sendMessage('Count to 900');
  await page.locator('.markdown').getByText('1 2 3').waitFor();
  await page.getByRole('button', { name: 'Stop' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('You stopped this answer.').waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('message');
});
