import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import type { UpstreamExchange } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Cancels the dialog and opens it again before the browser dispatches the close event. Resolves after that event. */
const reopenScript = `(async () => {
  const first = document.querySelector('.question-dialog');
  const ended = new Promise((resolve) => first.addEventListener('close', resolve));
  first.querySelector('button').click();
  await undefined;
  [...document.querySelectorAll('.settings button')].find(({ textContent }) => textContent === 'Delete all chats').click();
  await ended;
  await new Promise(requestAnimationFrame);
  return document.querySelector('.question-dialog')?.open ?? false;
})()`;

describe('several chats', () => {
  it('stream answers concurrently, mark running and new answers in the list, and do not mix them', async () => {
    const open = new Map<string, UpstreamExchange>();
    fixture.upstream.script(async (exchange) => {
      const { messages } = exchange.received.body as { messages: { content: string }[] };
      const question = messages.at(-1)?.content ?? '';
      open.set(question, exchange);
      exchange.head();
      await exchange.events(delta({ role: 'assistant' }), text(`${question}: `));
    });
    const { page, sendMessage, readAnswer, issues } = await fixture.open('raw');
    const findItem = (title: string) => page.locator('.conversation-item', { hasText: title });
    const reply = page.locator('.reply .markdown');
    await sendMessage('First');
    await reply.getByText('First:').waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.locator('.starter').first().waitFor();
    await sendMessage('Second');
    await reply.getByText('Second:').waitFor();
    await findItem('First').getByRole('img', { name: 'Answer in progress' }).waitFor();

    await open.get('First')?.events(text('one'));
    await open.get('Second')?.events(text('two'));
    await reply.getByText('Second: two').waitFor();
    await open.get('First')?.events(text(' more'), finish());
    open.get('First')?.done();
    await findItem('First').getByRole('img', { name: 'New answer' }).waitFor();
    await findItem('First').getByRole('link').click();
    expect(await readAnswer()).toBe('First: one more');
    expect(await findItem('First').getByRole('img').count()).toBe(0);
    await findItem('Second').getByRole('img', { name: 'Answer in progress' }).waitFor();

    await findItem('Second').getByRole('link').click();
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await readAnswer()).toBe('Second: two');
    expect(await findItem('Second').getByRole('img').count()).toBe(0);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('mark a new answer until it is seen, also in search results and after a reload', async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    fixture.upstream.script(async (exchange) => {
      await isReleased;
      exchange.head();
      await exchange.events(delta({ role: 'assistant' }), text('Done.'), finish());
      exchange.done();
    });
    const { page, sendMessage, readAnswer, reload } = await fixture.open('raw');
    const item = page.locator('.conversation-item', { hasText: 'Long task' });
    const mark = item.getByRole('img', { name: 'New answer' });
    await sendMessage('Long task');
    await item.getByRole('img', { name: 'Answer in progress' }).waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    release();
    await mark.waitFor();
    const search = page.getByRole('searchbox', { name: 'Search chats' });
    await search.fill('absent');
    await item.waitFor({ state: 'detached' });
    await search.fill('');
    await mark.waitFor();
    await reload();
    await mark.waitFor();
    await item.getByRole('link').click();
    expect(await readAnswer()).toBe('Done.');
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.locator('.starter').first().waitFor();
    expect(await item.getByRole('img').count()).toBe(0);
  });

  it('reopen their delete dialog before the browser dispatches its close event', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Count to 3');
    await readAnswer();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Delete all chats' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await page.evaluate(reopenScript)).toBe(true);
    await page.keyboard.press('Escape');
    await page.locator('.question-dialog').waitFor({ state: 'detached' });
    expect(await page.locator('.conversation-item').count()).toBe(1);
  });
});
