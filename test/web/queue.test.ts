import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import type { UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

allowNonconformingUpstreams();

let fixture: PageFixture;
/** The answers in progress by question. Each streams "<question>:" and stays open. */
let openAnswers: Map<string, UpstreamExchange>;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

beforeEach(() => {
  openAnswers = new Map();
  fixture.upstream.script(async (exchange) => {
    const question = listContents(exchange).at(-1) ?? '';
    openAnswers.set(question, exchange);
    exchange.head();
    await exchange.events(delta({ role: 'assistant' }), text(`${question}: `));
  });
});

function listContents({ received }: UpstreamExchange): readonly string[] {
  return (received.body as { messages: { content: string }[] }).messages.map(({ content }) => content);
}

async function endAnswer(question: string, reason: 'stop' | 'length' = 'stop'): Promise<void> {
  await expect.poll(() => openAnswers.has(question)).toBe(true);
  await openAnswers.get(question)?.events(text('done.'), finish(reason));
  openAnswers.get(question)?.done();
}

/** Opens a chat whose first answer is in progress. */
async function openAnswering(options: object = {}): Promise<TestPage> {
  const opened = await fixture.open('raw', options);
  await opened.sendMessage('First');
  await opened.page.locator('.reply .markdown').getByText('First:').waitFor();
  return opened;
}

const getQueue = ({ page }: TestPage) => page.getByRole('region', { name: 'Waiting messages' });
const readQuestions = ({ page }: TestPage) => page.locator('.question-text').allTextContents();

describe('a message that is sent while an answer is in progress', () => {
  it('is queued visibly and sent automatically, in order, after the previous answer has ended', async () => {
    const opened = await openAnswering();
    const { page, sendMessage, issues } = opened;
    await sendMessage('Second');
    await getQueue(opened).getByText('Sent when this answer is done').waitFor();
    await page.getByRole('status').getByText('Your message waits until this answer is done.').waitFor({ state: 'attached' });
    expect(await page.locator('#message').inputValue()).toBe('');
    // On a phone, the user sends with the button.
    await page.locator('#message').fill('Third');
    await page.getByRole('button', { name: 'Send when this answer is done' }).click();
    await getQueue(opened).getByText('Third').waitFor();
    expect([await readQuestions(opened), openAnswers.has('Second')]).toEqual([['First'], false]);
    await endAnswer('First');
    await page.locator('.reply .markdown').getByText('Second:').waitFor();
    await getQueue(opened).getByText('Third').waitFor();
    await endAnswer('Second');
    await page.locator('.reply .markdown').getByText('Third:').waitFor();
    expect(await getQueue(opened).count()).toBe(0);
    await endAnswer('Third');
    await page.locator('.reply').nth(2).locator('.actions').waitFor();
    expect(await readQuestions(opened)).toEqual(['First', 'Second', 'Third']);
    expect(openAnswers.has('Third') && listContents(openAnswers.get('Third') as UpstreamExchange)).toEqual([
      ...['First', 'First: done.', 'Second', 'Second: done.', 'Third'],
    ]);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('is sent while the user views another page', async () => {
    const opened = await openAnswering();
    await opened.sendMessage('Second');
    await getQueue(opened).getByText('Second').waitFor();
    await opened.page.evaluate("location.hash = '#/files'");
    await endAnswer('First');
    await endAnswer('Second');
    await opened.page.locator('.conversation-item', { hasText: 'First' }).getByRole('link').click();
    await opened.page.locator('.reply .markdown').getByText('Second: done.').waitFor();
  });

  it('can be edited with its files or removed, with the mouse and the keyboard', async () => {
    const opened = await openAnswering();
    const { page, sendMessage } = opened;
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') });
    await page.locator('.upload').getByText('note.txt').waitFor();
    await sendMessage('Second');
    await getQueue(opened).getByText('Second · note.txt').waitFor();
    await sendMessage('Third');
    await getQueue(opened).getByText('Third').waitFor();
    // The up arrow moves the last queued message back to the field.
    await page.locator('#message').press('ArrowUp');
    expect(await page.locator('#message').inputValue()).toBe('Third');
    expect(await getQueue(opened).getByText('Third').count()).toBe(0);
    await page.locator('#message').fill('More');
    await getQueue(opened).getByRole('button', { name: 'Edit this message' }).click();
    expect(await page.locator('#message').inputValue()).toBe('Second\n\nMore');
    await page.locator('.upload').getByText('note.txt').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    await page.keyboard.press('Enter');
    await getQueue(opened).getByText('Second').waitFor();
    await getQueue(opened).getByRole('button', { name: 'Do not send' }).click();
    await getQueue(opened).waitFor({ state: 'detached' });
    await endAnswer('First');
    await page.locator('.reply .actions').waitFor();
    expect([await readQuestions(opened), openAnswers.size]).toEqual([['First'], 1]);
  });

  it('is sent immediately if the user asks for it, which stops the current answer', async () => {
    const opened = await openAnswering();
    await opened.sendMessage('Second');
    await opened.sendMessage('Third');
    await getQueue(opened).getByRole('button', { name: 'Send now and stop the current answer' }).nth(1).click();
    await opened.page.locator('.reply .markdown').getByText('Third:').waitFor();
    await opened.page.getByText('You stopped this answer.').waitFor();
    // The other message stays in the queue.
    await getQueue(opened).getByText('Sent when this answer is done').waitFor();
    await endAnswer('Third');
    await endAnswer('Second');
    await expect.poll(() => readQuestions(opened)).toEqual(['First', 'Third', 'Second']);
  });

  it.each(['fails', 'is stopped', 'reaches its limit'])(
    'is held back if the previous answer %s, until the user sends it',
    async (how) => {
      const opened = await openAnswering();
      const { page, sendMessage } = opened;
      await sendMessage('Second');
      await getQueue(opened).getByText('Second').waitFor();
      if (how === 'fails') openAnswers.get('First')?.destroyConnection();
      else if (how === 'is stopped') await page.getByRole('button', { name: 'Stop', exact: true }).click();
      else await endAnswer('First', 'length');
      await getQueue(opened).getByText('Not sent, because the previous answer is not complete').waitFor();
      expect(openAnswers.size).toBe(1);
      await getQueue(opened).getByRole('button', { name: 'Send now', exact: true }).click();
      await page.locator('.reply .markdown').getByText('Second:').waitFor();
      expect(await getQueue(opened).count()).toBe(0);
      await endAnswer('Second');
    },
  );

  it('survives a reload and appears in other tabs, is not sent automatically, and is deleted after sign-out', async () => {
    const opened = await openAnswering();
    const { page, sendMessage, reload } = opened;
    await sendMessage('Second');
    await getQueue(opened).getByText('Second').waitFor();
    await reload();
    await getQueue(opened).getByText('Not sent').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${fixture.service.url}/#key=${callerKey}`);
    await other.locator('.conversation-item', { hasText: 'First' }).getByRole('link').click();
    await other.locator('.queue').getByText('Not sent').waitFor();
    expect(openAnswers.size).toBe(1);
    // A message that one tab removes disappears from the other.
    await other.getByRole('button', { name: 'Do not send' }).click();
    await getQueue(opened).waitFor({ state: 'detached' });
    await sendMessage('Third');
    await page.locator('.reply .markdown').getByText('Third:').waitFor();
    await sendMessage('Fourth');
    await getQueue(opened).getByText('Fourth').waitFor();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.question-dialog .danger').click();
    await page.getByLabel('Key').waitFor();
    expect(await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("queue"))')).toEqual([]);
    await other.close();
  });

  it.each(viewports)('has no accessibility violations or overflow: %s', async (look, options) => {
    const opened = await openAnswering(options);
    const { page, sendMessage } = opened;
    await sendMessage(
      'Second, a long message. The list shows only its first words, so that the user can identify it. '.repeat(6),
    );
    await sendMessage('Third');
    await page.locator('#message').fill('Fourth');
    await getQueue(opened).getByText('Third').waitFor();
    if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/queue-${look}.png` });
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await getQueue(opened).getByText('Not sent').waitFor();
    if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/held-${look}.png` });
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  });
});
