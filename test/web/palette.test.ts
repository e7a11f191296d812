import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const noIssues = { externalRequests: [], errors: [] };
const activeOptionScript = `(() => {
  const field = document.querySelector('[role=combobox]');
  const option = document.getElementById(field.getAttribute('aria-activedescendant'));
  return option?.role === 'option' && option.ariaSelected === 'true' ? option.querySelector('.palette-title').textContent : undefined;
})()`;

it('finds chats, deployments, pages, and actions by a few letters with the keyboard only', async () => {
  const { page, sendMessage, readAnswer, issues } = await fixture.open('demo');
  await sendMessage('Count to two zebras');
  await readAnswer();
  const searchPalette = async (letters: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to…' }).waitFor();
    await page.keyboard.type(letters);
  };
  await searchPalette('mailb');
  await page.getByRole('option', { name: 'Mailbox Chat with' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.picker', { hasText: 'Mailbox' }).waitFor();
  await searchPalette('zebras');
  expect(await page.evaluate(activeOptionScript)).toBe('Count to two zebras');
  await page.keyboard.press('Enter');
  await page.locator('.question').getByText('Count to two zebras').waitFor();
  await searchPalette('usage');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  await searchPalette('dark');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.documentElement.dataset.appearance')).toBe('dark');
  await searchPalette('sttngs');
  await page.keyboard.press('Enter');
  await page.locator('.settings[open]').waitFor();
  await page.keyboard.press('Escape');
  // The palette opens an item of a closed menu.
  await searchPalette('display');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Display and notifications' }).waitFor();
  await page.keyboard.press('Escape');
  await searchPalette('delete all');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Delete all your chats permanently?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+O');
  await page.locator('.start-view').waitFor();
  await searchPalette('chat set');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Chat settings' }).waitFor();
  expect(issues).toEqual(noIssues);
});

it('wraps around with the arrow keys, shows the number of results, and returns the focus after Escape', async () => {
  const { page } = await fixture.open('demo');
  await page.locator('#message').focus();
  await page.keyboard.press('Control+k');
  await page.getByRole('option').first().waitFor();
  const titles = await page.getByRole('option').locator('.palette-title').allTextContents();
  expect(titles).toEqual(expect.arrayContaining(['New chat', 'Settings', 'Files', 'Demo', 'Sign out']));
  expect(await page.evaluate(activeOptionScript)).toBe(titles[0]);
  await page.keyboard.press('ArrowUp');
  expect(await page.evaluate(activeOptionScript)).toBe(titles.at(-1));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(await page.evaluate(activeOptionScript)).toBe(titles[1]);
  await page.keyboard.type('qqq');
  await page.getByRole('option', { name: 'Search the text of chats for “qqq”' }).waitFor();
  await page.getByRole('status').getByText('1 result').waitFor();
  expect(await page.getByText('No results').count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('combobox').waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.id')).toBe('message');
});

it.each(viewports)('searches the text of chats in the sidebar: %s', async (_look, options) => {
  const { page, sendMessage, readAnswer } = await fixture.open('demo', options);
  await sendMessage('Count to two zebras');
  await readAnswer();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to…' }).fill(' zebras ');
  const option = page.getByRole('option', { name: 'Search the text of chats for “zebras”' });
  await option.waitFor();
  expect(await page.getByRole('option').last().textContent()).toContain('Search the text of chats');
  expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  await option.click();
  const field = page.getByRole('searchbox', { name: 'Search chats' });
  await field.waitFor();
  expect(await field.inputValue()).toBe('zebras');
  expect(await page.evaluate('document.activeElement.type')).toBe('search');
  await page.locator('.conversation-item', { hasText: 'Count to two zebras' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to…' }).fill('qqq');
  await page.getByRole('option', { name: 'Search the text of chats for “qqq”' }).waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => field.inputValue()).toBe('qqq');
});

it('asks before it discards text that is not valid', async () => {
  const { page } = await fixture.open('demo');
  await page.evaluate("location.hash = '#/build/new'");
  await page.getByRole('textbox').first().waitFor();
  await page.getByRole('radio', { name: 'JSON' }).check();
  await page.getByRole('textbox').last().fill('{');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to…' }).waitFor();
  await page.keyboard.type('files');
  await page.getByRole('option', { name: 'Files Go to' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('dialog.question-dialog[open]').getByRole('button', { name: 'Cancel' }).click();
  expect(await page.evaluate('location.hash')).toBe('#/build/new');
});

it('lists the keyboard shortcuts after a question mark outside of text fields', async () => {
  const { page } = await fixture.open('demo');
  await page.locator('#message').fill('');
  await page.keyboard.type('?');
  expect(await page.locator('#message').inputValue()).toBe('?');
  await page.locator('.picker').focus();
  await page.keyboard.type('?');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.getByText('Start a new chat').waitFor();
  expect(await list.locator('kbd').first().textContent()).toBe('Ctrl');
});

it('opens the last question for editing with the up arrow in an empty message field, and Escape returns the focus', async () => {
  const { page, sendMessage, readAnswer } = await fixture.open('demo');
  await page.keyboard.press('ArrowUp');
  expect(await page.locator('.editor').count()).toBe(0);
  await sendMessage('Count to 2');
  await readAnswer();
  await sendMessage('Count to 3');
  await readAnswer();
  await page.keyboard.press('ArrowUp');
  expect(await page.locator('.editor textarea').inputValue()).toBe('Count to 3');
  await page.keyboard.press('Escape');
  expect(await page.evaluate('document.activeElement.id')).toBe('message');
  await page.keyboard.press('ArrowUp');
  await page.locator('.editor textarea').fill('Count to 4');
  await page.keyboard.press('Enter');
  expect(await readAnswer()).toBe('1 2 3 4');
});

it('moves through the chat list with the arrow keys', async () => {
  const { page, sendMessage, readAnswer } = await fixture.open('demo');
  for (const text of ['Count to 2', 'Count to 3', 'Count to 4']) {
    await page.locator('.new-conversation').click();
    await page.locator('.start-view').waitFor();
    await sendMessage(text);
    await readAnswer();
  }
  const readFocusedText = async (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
  await page.locator('.conversation-list a').nth(2).waitFor();
  await page.getByRole('searchbox').focus();
  await page.keyboard.press('ArrowDown');
  expect(await readFocusedText()).toBe('Count to 4');
  await page.keyboard.press('End');
  expect(await readFocusedText()).toBe('Count to 2');
  await page.keyboard.press('ArrowUp');
  expect(await readFocusedText()).toBe('Count to 3');
  await page.keyboard.press('Home');
  expect(await readFocusedText()).toBe('Count to 4');
});

it.each(viewports)('has no accessibility violations in the palette and in the shortcut list: %s', async (look, options) => {
  const { page } = await fixture.open('demo', options);
  if (look === 'phone') await page.getByRole('button', { name: 'Show chats' }).click();
  await page.getByRole('button', { name: 'Go to…' }).click();
  await page.getByRole('option').first().waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  await page.getByRole('option', { name: 'Keyboard shortcuts' }).click();
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
});
