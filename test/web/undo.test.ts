import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { findViolations, viewports } from './violations.ts';

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const titles = async (archived = false): Promise<readonly string[]> => {
  const path = `/v1/chats?archived=${archived}`;
  const { json } = await fixture.service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
  return (json as { data: { title: string }[] }).data.map(({ title }) => title);
};

/** The page uploads changes after half a second. A busy machine needs longer. */
const uploadTimeout = { timeout: 10_000 };

describe('the undo note', () => {
  it('restores a deleted chat before the service deletes it', async () => {
    const { page, sendMessage, readAnswer, issues } = await fixture.open('demo');
    await sendMessage('Kept after all');
    await readAnswer();
    await expect.poll(() => titles(), uploadTimeout).toContain('Kept after all');
    const item = page.locator('.conversation-item', { hasText: 'Kept after all' });
    await item.getByRole('link').focus();
    await page.keyboard.press('Delete');
    const note = page.locator('.undo-note');
    await note.getByText('“Kept after all” is deleted.').waitFor();
    await item.waitFor({ state: 'detached' });
    await page.locator('.starter').first().waitFor();
    expect(await titles()).toContain('Kept after all');
    await note.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.question', { hasText: 'Kept after all' }).waitFor();
    await item.waitFor();
    expect(await note.count()).toBe(0);
    expect([await titles(), issues]).toEqual([expect.arrayContaining(['Kept after all']), { externalRequests: [], errors: [] }]);
  });

  it('lets a deletion become final with the next deletion and when the user leaves the page', async () => {
    const { page, sendMessage, readAnswer, reload } = await fixture.open('demo');
    await sendMessage('Goes first');
    await readAnswer();
    await page.locator('.new-conversation').click();
    await page.locator('.starter').first().waitFor();
    await sendMessage('Goes second');
    await readAnswer();
    await expect.poll(() => titles(), uploadTimeout).toEqual(expect.arrayContaining(['Goes first', 'Goes second']));
    const remove = async (title: string): Promise<void> => {
      await page.locator('.conversation-item', { hasText: title }).getByRole('link').focus();
      await page.keyboard.press('Delete');
      await page.getByText(`“${title}” is deleted.`).waitFor();
    };
    await remove('Goes first');
    await remove('Goes second');
    await expect.poll(() => titles()).not.toContain('Goes first');
    await reload();
    await expect.poll(() => titles()).not.toContain('Goes second');
    await page.locator('.conversation-item', { hasText: 'Goes' }).waitFor({ state: 'detached' });
  });

  it('restores an archived chat', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Filed away');
    await readAnswer();
    const item = page.locator('.conversation-item', { hasText: 'Filed away' });
    await item.hover();
    await page.getByRole('button', { name: 'More for “Filed away”' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await expect.poll(() => titles(true), uploadTimeout).toContain('Filed away');
    await page.locator('.undo-note').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => titles(), uploadTimeout).toContain('Filed away');
    await item.waitFor();
  });

  it.each(viewports)('has no accessibility violations: %s', async (look, options) => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo', options);
    await sendMessage('To look at');
    await readAnswer();
    const drawer = page.getByRole('button', { name: 'Show chats' });
    if (await drawer.isVisible()) await drawer.click();
    await page.locator('.conversation-item', { hasText: 'To look at' }).first().getByRole('link').focus();
    await page.keyboard.press('Delete');
    await page.locator('.undo-note').hover();
    expect(await findViolations(page)).toEqual([]);
    const folder = process.env.SHARE_PICTURES;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/undo-${look}.png` });
  });
});
