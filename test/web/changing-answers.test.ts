import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { eventsReply, type Reply } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import type { TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

allowNonconformingUpstreams();

const noIssues = { externalRequests: [], errors: [] };
const truncatedAnswer = (...texts: string[]): Reply =>
  eventsReply(delta({ role: 'assistant' }), ...texts.map((each) => text(each)), finish('length'), usage(7, 5));

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture({ keys: { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } } });
});

afterAll(() => fixture[Symbol.asyncDispose]());

function getLastMessages(): unknown {
  return fixture.upstream.requests.at(-1)?.body.messages;
}

async function takeScreenshot({ page }: TestPage, name: string): Promise<void> {
  if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
}

describe('the actions of a question', () => {
  it('are always visible only for the last question', async () => {
    fixture.upstream.script(eventsReply(...plainReply('One.')), eventsReply(...plainReply('Two.')));
    const { page, sendMessage, readAnswer } = await fixture.open('scripted');
    await sendMessage('First?');
    await readAnswer();
    await sendMessage('Second?');
    await page.locator('.reply').getByText('Two.').waitFor();
    await page.mouse.move(0, 0);
    const readOpacities = (): Promise<unknown> =>
      page.evaluate("[...document.querySelectorAll('.edit-question')].map((button) => getComputedStyle(button).opacity)");
    await expect.poll(readOpacities).toEqual(['0', '1']);
    await page.locator('.question').first().hover();
    await expect.poll(readOpacities).toEqual(['1', '1']);
  });
});

describe('a changed question', () => {
  it.each(viewports)('appears next to the earlier question, each above its answer: %s', async (look, options) => {
    const answers = ['Rome.', 'Paris.', 'Paris, still.', 'You are welcome.'];
    fixture.upstream.script(...answers.map((each) => eventsReply(...plainReply(each))));
    const opened = await fixture.open('scripted', options);
    const { page, sendMessage, readAnswer, issues } = opened;
    await sendMessage('The capital of Italy?');
    await readAnswer();
    const toggle = page.getByRole('button', { name: 'Versions side by side' });
    expect(await toggle.count()).toBe(0);
    await page.getByRole('button', { name: 'Edit and ask again' }).click();
    await page.getByRole('textbox', { name: 'Edit and ask again' }).fill('The capital of France?');
    await page.keyboard.press('Enter');
    await page.getByText('Paris.', { exact: true }).waitFor();
    await readAnswer();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Paris, still.').waitFor();
    await readAnswer();

    await toggle.first().click();
    const sides = page.getByRole('list', { name: 'Versions side by side' }).getByRole('listitem');
    await expect
      .poll(() => sides.locator('.question-text, .markdown').allInnerTexts())
      .toEqual(['The capital of Italy?', 'Rome.', 'The capital of France?', 'Paris, still.']);
    expect([await page.locator('.reply').isVisible(), await toggle.filter({ visible: true }).count()]).toEqual([false, 1]);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Versions side by side');
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await takeScreenshot(opened, `compared-questions-${look}`);
    await page.keyboard.press('Enter');
    expect(await readAnswer()).toBe('Paris, still.');

    await toggle.first().click();
    await sides.first().getByRole('button', { name: 'Continue with this version' }).click();
    expect(await readAnswer()).toBe('Rome.');
    await page.getByRole('group', { name: 'Version 1 of 2' }).waitFor();
    await sendMessage('Thanks');
    await page.getByText('You are welcome.').waitFor();
    expect(getLastMessages()).toMatchObject([{ content: 'The capital of Italy?' }, { content: 'Rome.' }, { content: 'Thanks' }]);
    expect(issues).toEqual(noIssues);
  });
});

describe('an answer that reached its token limit', () => {
  it('continues as one answer each time the user presses Continue', async () => {
    fixture.upstream.script(
      truncatedAnswer('It was the best ', 'of times, it was the wor'),
      truncatedAnswer('times, it was ', 'the worst of times, it was the age of'),
      eventsReply(...plainReply('it was the age of wisdom.')),
    );
    const opened = await fixture.open('scripted');
    const { page, sendMessage, readAnswer, issues } = opened;
    await sendMessage('How does it begin?');
    expect(await readAnswer()).toBe('It was the best of times, it was the wor');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByText('the worst of times, it was the age of').waitFor();
    expect(getLastMessages()).toEqual([
      { role: 'user', content: 'How does it begin?' },
      { role: 'assistant', content: 'It was the best of times, it was the wor' },
      { role: 'user', content: expect.stringMatching(/cut off.*\n\nIt was the best of times, it was the wor$/s) },
    ]);
    await page.getByText('The answer reached its length limit').waitFor();
    await page.getByRole('button', { name: 'Continue', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('it was the age of wisdom.').waitFor();
    expect(await readAnswer()).toBe('It was the best of times, it was the worst of times, it was the age of wisdom.');
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    // The page shows one answer, without the separate parts and the requests to continue.
    expect([await page.locator('.question').count(), await page.locator('.reply').count()]).toEqual([1, 1]);
    expect(await page.locator('.branches').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Continue', exact: true }).count()).toBe(0);
    await page.locator('.usage summary').getByText('36 tokens').waitFor();

    await opened.reload();
    expect(await readAnswer()).toBe('It was the best of times, it was the worst of times, it was the age of wisdom.');
    expect(await page.locator('.branches').count()).toBe(0);
    fixture.upstream.script(eventsReply(...plainReply('Dickens.')));
    await sendMessage('Who wrote it?');
    await page.getByText('Dickens.').waitFor();
    expect(getLastMessages()).toMatchObject([
      {},
      { content: expect.stringMatching(/^It was the best.*wisdom\.$/) },
      { role: 'user' },
    ]);
    expect(issues).toEqual(noIssues);
  });

  it('continues after the user stopped it or the connection failed, and keeps its text', async () => {
    fixture.upstream.script(
      async (exchange) => {
        exchange.head();
        await exchange.events(delta({ role: 'assistant' }), text('One two three'));
        exchange.destroyConnection();
      },
      async (exchange) => {
        exchange.head();
        await exchange.events(delta({ role: 'assistant' }), text('One two three four'));
      },
      eventsReply(...plainReply('One two three four five.')),
    );
    const { page, sendMessage } = await fixture.open('raw');
    await sendMessage('Count');
    await page.locator('.answer-error').waitFor();
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.locator('.reply .markdown').getByText('One two three four').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped this answer.').waitFor();
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.locator('.reply .markdown').getByText('One two three four five.', { exact: true }).waitFor();
    expect(await page.locator('.reply').count()).toBe(1);
  });
});

it('continues a truncated answer of the demo model until it is complete', async () => {
  const opened = await fixture.open('demo');
  const { page, sendMessage, readAnswer } = opened;
  await page.getByRole('button', { name: 'Chat settings' }).click();
  await page.getByLabel('Maximum answer length').fill('25');
  await page.getByRole('button', { name: 'Apply' }).click();
  await sendMessage('Count to 30');
  const all = Array.from({ length: 30 }, (_, index) => index + 1).join(' ');
  let answerText = await readAnswer();
  expect([all.startsWith(answerText.trim()), answerText.length < all.length]).toEqual([true, true]);
  for (let press = 0; press < 5 && answerText !== all; press += 1) {
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    const before = answerText;
    await expect.poll(async () => (answerText = await readAnswer())).not.toBe(before);
  }
  expect(answerText).toBe(all);
});

describe('an edited answer', () => {
  it('replaces the original, is marked as edited, and keeps the original as another version', async () => {
    fixture.upstream.script(eventsReply(...plainReply('Paris is in **Spain**.')));
    const first = await fixture.open('scripted');
    const { page, sendMessage, readAnswer, issues } = first;
    await sendMessage('Where is Paris?');
    await readAnswer();
    await page.getByRole('button', { name: 'Edit this answer' }).focus();
    await page.keyboard.press('Enter');
    const field = page.getByRole('textbox', { name: 'Edit this answer' });
    expect(await field.inputValue()).toBe('Paris is in **Spain**.');
    await page.getByText('The original answer stays as another version.').waitFor();
    for (const [look, { colorScheme = 'light', viewport = { width: 1280, height: 720 } }] of viewports) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport as { width: number; height: number });
      expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
      await takeScreenshot(first, `edit-${look}`);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Edit this answer');
    await page.keyboard.press('Enter');
    await field.fill('Paris is in **France**.');
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toContain('\n');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Control+Enter');
    await page.locator('.reply-name').getByText('Edited').waitFor();
    expect(await readAnswer()).toBe('Paris is in France.');
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    await page.getByRole('group', { name: 'Version 2 of 2' }).getByRole('button', { name: 'Previous version' }).click();
    expect(await readAnswer()).toBe('Paris is in Spain.');
    expect(await page.locator('.edited').count()).toBe(0);
    await page.getByRole('button', { name: 'Next version' }).click();
    await page.locator('.edited').waitFor();
    expect(await findViolations(page)).toEqual([]);

    fixture.upstream.script(eventsReply(...plainReply('Yes.')));
    await sendMessage('Sure?');
    await page.getByText('Yes.').waitFor();
    expect(getLastMessages()).toMatchObject([
      {},
      { role: 'assistant', content: 'Paris is in **France**.' },
      { content: 'Sure?' },
    ]);
    // Later messages stay with the version that they follow.
    await page.getByRole('button', { name: 'Edit this answer' }).first().click();
    await page.getByText('The messages after this answer stay with the original version.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(issues).toEqual(noIssues);
  });

  it('appears on another device, in a shared link, and in an exported file', async () => {
    fixture.upstream.script(eventsReply(...plainReply('Lyon.')));
    const first = await fixture.open('scripted');
    await first.sendMessage('The capital of France?');
    await first.readAnswer();
    await first.page.getByRole('button', { name: 'Edit this answer' }).click();
    await first.page.getByRole('textbox', { name: 'Edit this answer' }).fill('Paris.');
    await first.page.getByRole('button', { name: 'Save edit' }).click();
    await first.page.locator('.edited').waitFor();

    const second = await fixture.openAt(`/#key=${callerKey}`);
    await second.page.locator('.conversation-item', { hasText: 'The capital of France?' }).getByRole('link').click();
    await second.page.locator('.reply .edited').waitFor();
    expect(await second.readAnswer()).toBe('Paris.');
    await second.page.getByRole('group', { name: 'Version 2 of 2' }).waitFor();

    await second.page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await second.page.getByRole('button', { name: 'Create a link' }).click();
    const link = await second.page.getByRole('textbox', { name: 'Link' }).inputValue();
    await second.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    const otherUser = await fixture.openAt('/#key=other-key');
    await otherUser.page.locator('#message').waitFor();
    await otherUser.page.evaluate(`location.hash = ${JSON.stringify(link.slice(link.indexOf('#')))}`);
    await otherUser.page.locator('.reply .edited').waitFor();
    await otherUser.page.getByText('Paris.').waitFor();

    await second.page.getByRole('button', { name: 'Settings', exact: true }).click();
    await second.page.getByRole('button', { name: 'Import and export…' }).click();
    const [download] = await Promise.all([
      second.page.waitForEvent('download'),
      second.page.getByRole('button', { name: 'Export all chats' }).click(),
    ]);
    const file = await download.path();
    const third = await fixture.openAt('/#key=other-key');
    await third.page.locator('#message').waitFor();
    await third.page.getByRole('button', { name: 'Settings', exact: true }).click();
    await third.page.getByRole('button', { name: 'Import and export…' }).click();
    await third.page.locator('dialog input[type=file]').setInputFiles(file);
    await third.page.getByText(/^\d new/).waitFor();
    await third.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await third.page.locator('.conversation-item', { hasText: 'The capital of France?' }).getByRole('link').click();
    await third.page.locator('.reply .edited').waitFor();
  });
});
