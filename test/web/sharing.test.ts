import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { callerKey } from '#test/start-service.ts';
import { type ChatsHouse, startChatsHouse } from './chats-house.ts';
import type { TestPage } from './support.ts';
import { looks, violations } from './violations.ts';

const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };
const clean = { outside: [], faults: [] };

let house: ChatsHouse;

beforeAll(async () => {
  house = await startChatsHouse({ keys }, { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } });
});

afterAll(() => house[Symbol.asyncDispose]());

/** Creates a link to the open chat. Returns the hash of the link. */
async function share({ page }: TestPage): Promise<string> {
  await page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
  await page.getByLabel('The link works for').selectOption('7 days');
  await page.getByRole('button', { name: 'Create a link' }).click();
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
  return link.slice(link.indexOf('#'));
}

/** Opens a link as another user. */
async function openAsOther(hash: string, options = {}): Promise<TestPage> {
  const opened = await house.openAt('/#key=other-key', options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  return opened;
}

describe('a shared chat', { timeout: 60_000 }, () => {
  it('shows another user a snapshot with its files, continues in a copy, and disappears after the link is revoked', async () => {
    const one = await house.open('demo');
    const content = Buffer.from(`A note of the owner. ${'x'.repeat(600 * 1024)}`);
    await one.page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: content });
    await one.page.getByText('note.txt').first().waitFor();
    await one.say('Keep this in mind');
    await one.answer();
    const hash = await share(one);
    await one.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await one.say('Said later');
    await one.answer();

    const two = await openAsOther(hash);
    await two.page.getByText('Shared by test on').waitFor();
    expect(await two.page.locator('.question').allTextContents()).toEqual([expect.stringContaining('Keep this in mind')]);
    await two.page.getByText('A note of the owner.').first().waitFor();
    expect(await two.page.locator('#message').count()).toBe(0);
    await two.page.getByRole('button', { name: 'Continue in a copy' }).click();
    await two.page.locator('#message').waitFor();
    await two.say('Mine now');
    await two.answer();
    expect(await two.page.locator('.question').count()).toBe(2);

    await one.page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await one.page.getByRole('button', { name: /^Revoke the link/ }).click();
    await one.page.getByRole('button', { name: /^Revoke the link/ }).waitFor({ state: 'detached' });
    const three = await openAsOther(hash);
    await three.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    // The copy has its own copy of the file.
    await two.page.getByRole('button', { name: 'note.txt', expanded: false }).click();
    await two.page.getByText('A note of the owner.').first().waitFor();
    expect(await one.page.locator('.question').count()).toBe(2);
    expect([one.troubles, two.troubles, three.troubles]).toEqual([clean, clean, clean]);
  });

  it('has its link listed in the settings, even if no chat is open', async () => {
    const { page } = await house.open('demo');
    await page.getByText('Settings').click();
    await page.getByRole('button', { name: 'Shared links' }).click();
    await page.getByText('You are not sharing any chats.').waitFor();
  });
});

describe.each(looks)('sharing at the window size %s', { timeout: 60_000 }, (look, options) => {
  it('has no accessibility violations in the dialog and in the shared chat', async () => {
    const one = await house.open('demo', options);
    await one.say('Show me everything');
    await one.answer();
    await one.page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await one.page.getByRole('button', { name: 'Create a link' }).waitFor();
    expect(await violations(one.page)).toEqual([]);
    await one.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    const hash = await share(one);
    expect(await violations(one.page)).toEqual([]);
    await picture(one, `dialog ${look}`);
    const two = await openAsOther(hash, options);
    await two.page.getByText('Shared by test on').waitFor();
    await two.page.locator('.reply .markdown').first().waitFor();
    expect(await violations(two.page)).toEqual([]);
    expect(await two.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await picture(two, `shared ${look}`);
    const lost = await openAsOther(`#/shared/${'A'.repeat(43)}`, options);
    await lost.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    expect(await violations(lost.page)).toEqual([]);
    await picture(lost, `gone ${look}`);
  });
});

async function picture({ page }: TestPage, name: string): Promise<void> {
  const folder = process.env.SHARE_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name.replace(/\W+/g, '-')}.png` });
}
