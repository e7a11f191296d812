import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const node = (id: string, parent: string | null, role: string, text: string) => ({
  [id]: { id, parent, children: [], message: { id, author: { role }, content: { content_type: 'text', parts: [text] } } },
});
const conversation = (at: number) => ({
  ...{ conversation_id: `imported-${at}`, title: `Trip ${at}`, create_time: 1_700_000_000 + at, update_time: 1_700_000_000 + at },
  mapping: { ...node('q', null, 'user', `Where to, ${at}?`), ...node('a', 'q', 'assistant', `To the sea, ${at}`) },
  current_node: 'a',
});

async function openTransfer(page: Page): Promise<void> {
  const drawer = page.getByRole('button', { name: 'Show chats' });
  if (await drawer.isVisible()) await drawer.click();
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Import and export…' }).click();
  await page.getByRole('dialog', { name: 'Import and export' }).waitFor();
}

const importFile = (page: Page, content: string) =>
  page
    .getByRole('dialog')
    .locator('input[type=file]')
    .setInputFiles({ name: 'conversations.json', mimeType: 'application/json', buffer: Buffer.from(content) });

const countChats = async (): Promise<number> => {
  const { json } = await fixture.service.sendRequest({
    method: 'GET',
    path: '/v1/chats?limit=500',
    headers: { 'api-key': callerKey },
  });
  return (json as { data: unknown[] }).data.length;
};

describe('the transfer of chats', () => {
  it('imports chats once, uploads them to the service, and restores deleted chats from an export', async () => {
    const { page, issues } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('.starter').first().waitFor();
    await openTransfer(page);
    await importFile(
      page,
      JSON.stringify([...Array.from({ length: 60 }, (_, index) => conversation(index)), { title: 'broken' }]),
    );
    await page.getByText('60 new chats; 1 that could not be read: not a chat, empty, or too large.').waitFor();
    await expect.poll(countChats, { timeout: 30_000 }).toBe(60);
    await importFile(page, JSON.stringify([conversation(0)]));
    await page.getByText('0 new chats; 1 that was already here.').waitFor();

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export all chats' }).click(),
    ]);
    await page.getByText('60 chats are in the file.').waitFor();
    const exported = await readFile(await download.path(), 'utf8');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Delete all chats' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(countChats).toBe(0);

    await openTransfer(page);
    await importFile(page, exported);
    await page.getByText('60 new chats.').waitFor();
    await expect.poll(countChats, { timeout: 30_000 }).toBe(60);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Trip 59' }).click();
    await page.locator('.reply', { hasText: 'To the sea, 59' }).waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('reports a failed export', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('.starter').first().waitFor();
    await openTransfer(page);
    await page.route('**/v1/chats?*', (route) => route.abort());
    await page.getByRole('button', { name: 'Export all chats' }).click();
    await page.getByText('The export failed. Check the connection and try again.').waitFor();
  });

  it.each(viewports)('reports an unsupported file, without accessibility violations: %s', async (_look, options) => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`, options);
    await page.locator('.starter').first().waitFor();
    await openTransfer(page);
    await importFile(page, 'PK\u0003\u0004 a zip archive');
    await page.getByText('This file cannot be imported').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
  });
});
