import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { upstreamsAreOdd } from '#test/described-answers.ts';
import type { Answering } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { type PageHouse, startPageHouse, type TestPage } from './support.ts';
import { looks, overhang, violations } from './violations.ts';

upstreamsAreOdd();

let house: PageHouse;
/** The answers in progress by question. Each streams "<question>:" and stays open. */
let open: Map<string, Answering>;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

beforeEach(() => {
  open = new Map();
  house.upstream.script(async (answering) => {
    const question = asked(answering).at(-1) ?? '';
    open.set(question, answering);
    answering.head();
    await answering.events(delta({ role: 'assistant' }), text(`${question}: `));
  });
});

function asked({ received }: Answering): readonly string[] {
  return (received.body as { messages: { content: string }[] }).messages.map(({ content }) => content);
}

async function end(question: string, reason: 'stop' | 'length' = 'stop'): Promise<void> {
  await expect.poll(() => open.has(question)).toBe(true);
  await open.get(question)?.events(text('done.'), finish(reason));
  open.get(question)?.done();
}

/** Opens a chat whose first answer is in progress. */
async function openAnswering(options: object = {}): Promise<TestPage> {
  const opened = await house.open('raw', options);
  await opened.say('First');
  await opened.page.locator('.reply .markdown').getByText('First:').waitFor();
  return opened;
}

const waiting = ({ page }: TestPage) => page.getByRole('region', { name: 'Waiting messages' });
const questions = ({ page }: TestPage) => page.locator('.question-text').allTextContents();

describe('a message that is sent while an answer is in progress', { timeout: 60_000 }, () => {
  it('is queued visibly and sent automatically, in order, after the previous answer has ended', async () => {
    const opened = await openAnswering();
    const { page, say, troubles } = opened;
    await say('Second');
    await waiting(opened).getByText('Sent when this answer is done').waitFor();
    await page.getByRole('status').getByText('Your message waits until this answer is done.').waitFor({ state: 'attached' });
    expect(await page.locator('#message').inputValue()).toBe('');
    // On a phone, the user sends with the button.
    await page.locator('#message').fill('Third');
    await page.getByRole('button', { name: 'Send when this answer is done' }).click();
    await waiting(opened).getByText('Third').waitFor();
    expect([await questions(opened), open.has('Second')]).toEqual([['First'], false]);
    await end('First');
    await page.locator('.reply .markdown').getByText('Second:').waitFor();
    await waiting(opened).getByText('Third').waitFor();
    await end('Second');
    await page.locator('.reply .markdown').getByText('Third:').waitFor();
    expect(await waiting(opened).count()).toBe(0);
    await end('Third');
    await page.locator('.reply').nth(2).locator('.actions').waitFor();
    expect(await questions(opened)).toEqual(['First', 'Second', 'Third']);
    expect(open.has('Third') && asked(open.get('Third') as Answering)).toEqual([
      ...['First', 'First: done.', 'Second', 'Second: done.', 'Third'],
    ]);
    expect(troubles).toEqual({ outside: [], faults: [] });
  });

  it('is sent while the user views another page', async () => {
    const opened = await openAnswering();
    await opened.say('Second');
    await waiting(opened).getByText('Second').waitFor();
    await opened.page.evaluate("location.hash = '#/files'");
    await end('First');
    await end('Second');
    await opened.page.locator('.head', { hasText: 'First' }).getByRole('link').click();
    await opened.page.locator('.reply .markdown').getByText('Second: done.').waitFor();
  });

  it('can be edited with its files or removed, with the mouse and the keyboard', async () => {
    const opened = await openAnswering();
    const { page, say } = opened;
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') });
    await page.locator('.upload').getByText('note.txt').waitFor();
    await say('Second');
    await waiting(opened).getByText('Second · note.txt').waitFor();
    await say('Third');
    await waiting(opened).getByText('Third').waitFor();
    // The up arrow moves the last queued message back to the field.
    await page.locator('#message').press('ArrowUp');
    expect(await page.locator('#message').inputValue()).toBe('Third');
    expect(await waiting(opened).getByText('Third').count()).toBe(0);
    await page.locator('#message').fill('More');
    await waiting(opened).getByRole('button', { name: 'Edit this message' }).click();
    expect(await page.locator('#message').inputValue()).toBe('Second\n\nMore');
    await page.locator('.upload').getByText('note.txt').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    await page.keyboard.press('Enter');
    await waiting(opened).getByText('Second').waitFor();
    await waiting(opened).getByRole('button', { name: 'Do not send' }).click();
    await waiting(opened).waitFor({ state: 'detached' });
    await end('First');
    await page.locator('.reply .actions').waitFor();
    expect([await questions(opened), open.size]).toEqual([['First'], 1]);
  });

  it('is sent immediately if the user asks for it, which stops the current answer', async () => {
    const opened = await openAnswering();
    await opened.say('Second');
    await opened.say('Third');
    await waiting(opened).getByRole('button', { name: 'Send now and end the current answer' }).nth(1).click();
    await opened.page.locator('.reply .markdown').getByText('Third:').waitFor();
    await opened.page.getByText('You stopped this answer.').waitFor();
    // The other message stays in the queue.
    await waiting(opened).getByText('Sent when this answer is done').waitFor();
    await end('Third');
    await end('Second');
    await expect.poll(() => questions(opened)).toEqual(['First', 'Third', 'Second']);
  });

  it.each(['fails', 'is stopped', 'reaches its limit'])(
    'is held back if the previous answer %s, until the user sends it',
    async (how) => {
      const opened = await openAnswering();
      const { page, say } = opened;
      await say('Second');
      await waiting(opened).getByText('Second').waitFor();
      if (how === 'fails') open.get('First')?.destroyConnection();
      else if (how === 'is stopped') await page.getByRole('button', { name: 'Stop' }).click();
      else await end('First', 'length');
      await waiting(opened).getByText('Not sent, because the previous answer is not complete').waitFor();
      expect(open.size).toBe(1);
      await waiting(opened).getByRole('button', { name: 'Send now', exact: true }).click();
      await page.locator('.reply .markdown').getByText('Second:').waitFor();
      expect(await waiting(opened).count()).toBe(0);
      await end('Second');
    },
  );

  it('survives a reload and appears in other tabs, is not sent automatically, and is deleted after sign-out', async () => {
    const opened = await openAnswering();
    const { page, say, reload } = opened;
    await say('Second');
    await waiting(opened).getByText('Second').waitFor();
    await reload();
    await waiting(opened).getByText('Not sent').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${house.service.url}/#key=${callerKey}`);
    await other.locator('.head', { hasText: 'First' }).getByRole('link').click();
    await other.locator('.queue').getByText('Not sent').waitFor();
    expect(open.size).toBe(1);
    // A message that one tab removes disappears from the other.
    await other.getByRole('button', { name: 'Do not send' }).click();
    await waiting(opened).waitFor({ state: 'detached' });
    await say('Third');
    await page.locator('.reply .markdown').getByText('Third:').waitFor();
    await say('Fourth');
    await waiting(opened).getByText('Fourth').waitFor();
    await page.getByText('Settings', { exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Key').waitFor();
    expect(await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("queue"))')).toEqual([]);
    await other.close();
  });

  it.each(looks)('has no accessibility violations or overflow: %s', async (look, options) => {
    const opened = await openAnswering(options);
    const { page, say } = opened;
    await say('Second, and what is long is not shown in whole but begins so that one knows which it is. '.repeat(6));
    await say('Third');
    await page.locator('#message').fill('Fourth');
    await waiting(opened).getByText('Third').waitFor();
    if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/queue-${look}.png` });
    expect([await violations(page), await overhang(page)]).toEqual([[], 0]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await waiting(opened).getByText('Not sent').waitFor();
    if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/held-${look}.png` });
    expect([await violations(page), await overhang(page)]).toEqual([[], 0]);
  });
});
