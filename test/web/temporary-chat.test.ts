import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { storageScript } from './long-conversation.ts';
import type { TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture({}, { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const readChatsJson = async () =>
  JSON.stringify(
    (await fixture.service.sendRequest({ method: 'GET', path: '/v1/chats?limit=500', headers: { 'api-key': callerKey } })).json,
  );

const readHash = ({ page }: TestPage) => page.evaluate('location.hash');
const getLeaveDialog = ({ page }: TestPage) => page.locator('dialog[open]').filter({ hasText: 'Leave this temporary chat?' });

/** Opens a temporary chat with one answer. */
async function openTemporary(options: object = {}): Promise<TestPage> {
  const opened = await fixture.open('demo', options);
  await opened.page.getByRole('link', { name: 'Temporary chat' }).click();
  await opened.page.getByText('This chat is not saved').waitFor();
  await opened.page.locator('.starter').first().waitFor();
  await opened.sendMessage('Count to 7');
  expect(await opened.readAnswer()).toBe('1 2 3 4 5 6 7');
  return opened;
}

describe('a temporary chat', () => {
  it('can be chosen before the first message, continues like any chat, and is not stored', async () => {
    const opened = await fixture.open('demo');
    const { page, sendMessage, readAnswer, issues } = opened;
    await page.locator('#message').fill('Count to 4 in secret');
    await page.getByRole('link', { name: 'Temporary chat' }).click();
    // The text in the message field moves to the temporary chat.
    await page.getByText('This chat is not saved').waitFor();
    expect(await page.locator('#message').inputValue()).toBe('Count to 4 in secret');
    expect(await page.evaluate(storageScript)).not.toContain('secret');
    const sent = page.waitForRequest(/chat\/completions/);
    await page.locator('#message').press('Enter');
    expect(await readAnswer()).toBe('1 2 3 4');
    expect((await sent).headers()['x-parley-record-content']).toBe('false');
    expect([await readHash(opened), await page.locator('#message').inputValue()]).toEqual(['#/temporary?with=demo', '']);
    await page.locator('.temporary-banner').getByText('Temporary chat.').waitFor();
    await sendMessage('Count to 3 in secret');
    await page.locator('.reply').nth(1).locator('.actions').waitFor();
    expect(await readAnswer()).toBe('1 2 3');
    await page.getByRole('button', { name: 'Edit this answer' }).first().waitFor();
    for (const name of ['Share with a link', 'Good answer']) expect(await page.getByRole('button', { name }).count()).toBe(0);
    await page.locator('#message').fill('A secret draft');
    expect(await page.locator('.conversation-item').count()).toBe(0);
    // Waits longer than the page needs to save and to upload.
    await page.waitForTimeout(2000);
    expect(await page.evaluate(storageScript)).not.toContain('secret');
    expect(await readChatsJson()).not.toContain('secret');
    // Checks that the same method finds a stored chat.
    await page.getByRole('link', { name: 'New chat' }).click();
    await getLeaveDialog(opened).getByRole('button', { name: 'Leave' }).click();
    await page.locator('.starter').first().waitFor();
    const stored = page.waitForRequest(/v1\/chat-runs/);
    await sendMessage('Count to 2, no secret');
    expect((await stored).headers()['x-parley-record-content']).toBeUndefined();
    await expect.poll(readChatsJson).toContain('secret');
    expect(await page.evaluate(storageScript)).toContain('secret');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('asks before the user leaves it through a link, the palette, or the back button, and is then lost', async () => {
    const opened = await openTemporary();
    const { page } = opened;
    const stay = async (): Promise<void> => {
      await getLeaveDialog(opened).getByRole('button', { name: 'Cancel' }).click();
      await getLeaveDialog(opened).waitFor({ state: 'detached' });
      expect(await readHash(opened)).toBe('#/temporary?with=demo');
      expect(await page.locator('.reply').count()).toBe(1);
    };
    await page.getByRole('link', { name: 'Files' }).click();
    await stay();
    await page.goBack();
    await stay();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to…' }).waitFor();
    await page.keyboard.type('usage');
    await page.getByRole('option', { name: 'Usage Go to' }).waitFor();
    await page.keyboard.press('Enter');
    await stay();
    await page.getByRole('link', { name: 'Leave the temporary chat' }).click();
    await getLeaveDialog(opened).getByRole('button', { name: 'Leave' }).click();
    await page.locator('.starter').first().waitFor();
    expect(await readHash(opened)).toBe('#/?with=demo');
    await page.getByRole('link', { name: 'Temporary chat' }).click();
    await page.locator('.starter').first().waitFor();
    expect(await page.locator('.reply').count()).toBe(0);
    // The new chat has no messages, so the page does not ask.
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('heading', { name: 'Files', exact: true }).first().waitFor();
  });

  it('starts from the palette and rejects a file that would have to be stored', async () => {
    const { page } = await fixture.open('demo');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to…' }).waitFor();
    await page.keyboard.type('temporary');
    await page.getByRole('option', { name: 'Temporary chat Go to' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('This chat is not saved').waitFor();
    await page.locator('input[type=file]').setInputFiles([
      { name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.from('x'.repeat(600 * 1024)) },
      { name: 'small.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') },
    ]);
    await page
      .getByText(
        'large.txt could not be uploaded: it is too large to send with the message, and temporary chats do not store files.',
      )
      .waitFor();
    expect(await page.locator('.upload.failed').count()).toBe(1);
  });

  it.each(viewports)('has no accessibility violations or overflow: %s', async (look, options) => {
    const opened = await openTemporary(options);
    const { page } = opened;
    const checkView = async (name: string): Promise<void> => {
      if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/${name}-${look}.png` });
      expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    };
    await checkView('temporary');
    await page.getByRole('link', { name: 'Leave the temporary chat' }).click();
    await getLeaveDialog(opened).waitFor();
    await checkView('leave');
    await getLeaveDialog(opened).getByRole('button', { name: 'Leave' }).click();
    await page.locator('.starter').first().waitFor();
    await checkView('new');
  });
});
