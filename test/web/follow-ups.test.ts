import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { errorReply, eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture({ page: { titleModel: 'scripted' } });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const getSuggestions = ({ page }: TestPage) => page.getByRole('list', { name: 'Ask next' });
/** Returns the number of requests for follow-up questions. Other requests to the model ask for a title. */
const countRequests = () =>
  fixture.upstream.requests.filter(({ text }) => text.includes('Suggest the next questions of the user')).length;

async function choose({ page }: TestPage, name: 'No suggestions' | 'Suggest questions'): Promise<void> {
  const drawer = page.getByRole('button', { name: 'Show chats' });
  if (await drawer.isVisible()) await drawer.click();
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Display and notifications' }).click();
  const dialog = page.locator('.display-dialog');
  await dialog.getByText('After each answer, Scripted suggests up to three questions.').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole('radio', { name }).check();
  await dialog.getByRole('button', { name: 'Close' }).click();
  if (await drawer.count()) await page.keyboard.press('Escape');
}

describe('follow-up questions', () => {
  it('are suggested only after the user enables them, and are sent with one press', async () => {
    fixture.upstream.script(eventsReply(...plainReply('1. How far is five?\n- "And back?"\n\nWhy count?\nA fourth?')));
    const opened = await fixture.open('demo');
    const { page, sendMessage, readAnswer, reload, issues } = opened;
    await sendMessage('Count to 3');
    await readAnswer();
    // Once the title is displayed, the page would also have requested suggestions.
    await page.locator('.conversation-item', { hasText: '1. How far is five?' }).waitFor();
    expect([countRequests(), await getSuggestions(opened).count()]).toEqual([0, 0]);
    await choose(opened, 'Suggest questions');
    expect(countRequests()).toBe(0);
    await sendMessage('Count to 4');
    await getSuggestions(opened).waitFor();
    expect(await getSuggestions(opened).getByRole('button').allTextContents()).toEqual([
      ...['How far is five?', 'And back?', 'Why count?'],
    ]);
    expect(fixture.upstream.requests.at(-1)?.body.messages).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'Question:\nCount to 4\n\nAnswer:\n1 2 3 4' },
    ]);
    await getSuggestions(opened).getByRole('button', { name: 'And back?' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.question-text').getByText('And back?').waitFor();
    await page.locator('.reply').nth(2).locator('.actions').waitFor();
    await getSuggestions(opened).waitFor();
    expect([await getSuggestions(opened).count(), countRequests()]).toEqual([1, 2]);
    expect(await page.evaluate('document.activeElement.id')).toBe('message');

    // Reopening a chat requests no suggestions, because they cost tokens.
    await page.clock.setFixedTime(Date.now() + 120_000);
    await reload();
    await page.locator('.reply').nth(2).locator('.actions').waitFor();
    fixture.upstream.script(errorReply(500));
    await choose(opened, 'Suggest questions');
    expect(countRequests()).toBe(2);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('are omitted without an error if the model fails', async () => {
    fixture.upstream.script(errorReply(500));
    const opened = await fixture.open('demo');
    await choose(opened, 'Suggest questions');
    const before = countRequests();
    await opened.sendMessage('Count to 3');
    await opened.readAnswer();
    await expect.poll(countRequests).toBeGreaterThan(before);
    expect(await getSuggestions(opened).count()).toBe(0);
    expect(await opened.page.locator('.answer-error').count()).toBe(0);
  });

  it.each(viewports)('have no accessibility violations or overflow: %s', async (viewport, options) => {
    fixture.upstream.script(
      eventsReply(...plainReply('How far is five?\nAnd what would it be if one were to count the other way round?')),
    );
    const opened = await fixture.open('demo', options);
    const { page, sendMessage } = opened;
    await choose(opened, 'Suggest questions');
    await sendMessage('Count to 4');
    await getSuggestions(opened).waitFor();
    if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/follow-${viewport}.png` });
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  });
});
