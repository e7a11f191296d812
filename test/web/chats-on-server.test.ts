import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const listChats = async (): Promise<readonly { id: string; title: string }[]> => {
  const { json } = await fixture.service.sendRequest({ method: 'GET', path: '/v1/chats', headers: { 'api-key': callerKey } });
  return (json as { data: { id: string; title: string }[] }).data;
};

const listTitles = async () => (await listChats()).map(({ title }) => title);

const countTurnsScript = `new Promise((resolve) => {
  indexedDB.open('parley key:test').onsuccess = ({ target: { result } }) => {
    result.transaction('turns').objectStore('turns').count().onsuccess = ({ target }) => {
      const { result: count } = target;
      result.close();
      resolve(count);
    };
  };
})`;

/** Creates the database of a page version that did not sync with the server. */
const storeOldChatScript = `new Promise((resolve) => {
  const opening = indexedDB.open('parley key:test', 1);
  opening.onupgradeneeded = () => {
    const { result } = opening;
    const heads = result.createObjectStore('heads', { keyPath: 'id' });
    const conversations = result.createObjectStore('conversations', { keyPath: 'id' });
    const turns = result.createObjectStore('turns', { keyPath: ['conversation', 'id'] });
    const head = { id: 'long', title: 'Long', deployment: 'demo', updatedAtMs: 1 };
    heads.put({ ...head, said: 'long' });
    conversations.put({ ...head, createdAtMs: 1, shown: {} });
    turns.put({ conversation: 'long', id: 'q', parent: '', kind: 'question', atMs: 1, text: 'Where?', attachments: [] });
    const reply = { kind: 'reply', deployment: 'demo', state: 'done', text: 'The needle', custom: {}, stageTimes: {} };
    turns.put({ conversation: 'long', id: 'r', parent: 'q', atMs: 2, ...reply });
  };
  opening.onsuccess = () => {
    opening.result.close();
    resolve();
  };
})`;

describe('chats on the server', () => {
  it('sync between two devices that both continue the same chat', async () => {
    const first = await fixture.open('demo');
    await first.sendMessage('Hello from the first');
    await first.readAnswer();
    await expect.poll(listTitles).toContain('Hello from the first');
    const second = await fixture.openAt(`/#key=${callerKey}`);
    await second.page.getByRole('link', { name: 'Hello from the first' }).click();
    await second.readAnswer();
    await second.sendMessage('And from the second');
    await second.readAnswer();
    await first.page.locator('.question', { hasText: 'And from the second' }).waitFor();
    await first.page.locator('.reply').nth(1).waitFor();
    expect([first.issues, second.issues]).toEqual(Array(2).fill({ externalRequests: [], errors: [] }));
  });

  it('are uploaded from a browser that stored them locally, and the search finds their text', async () => {
    const here = await fixture.openAt('/health');
    await here.page.evaluate(storeOldChatScript);
    await here.page.goto(`${fixture.service.url}/#key=${callerKey}`);
    await expect.poll(listTitles).toContain('Long');
    const there = await fixture.openAt(`/#key=${callerKey}`);
    await there.page.getByRole('searchbox').fill('the needle');
    await there.page.locator('.conversation-item', { hasText: 'Long' }).getByRole('link').click();
    await there.page.locator('.reply', { hasText: 'The needle' }).waitFor();
  });

  it('are prepared for the search after the page opens, before the user focuses the search field', async () => {
    const { page } = await fixture.openAt('/health');
    const searchUrls: string[] = [];
    page.on('request', (request) => request.url().includes('/v1/chats?query=') && searchUrls.push(request.url()));
    await page.goto(`${fixture.service.url}/#key=${callerKey}`);
    await expect.poll(() => searchUrls.map((url) => new URL(url).searchParams.get('archived'))).toEqual(['false', 'true']);
  });

  it('are loaded for the search when the user focuses the field, and “No results” appears only after the search is complete', async () => {
    const body = {
      title: 'Harvest',
      updatedAtMs: 1,
      turns: [{ id: 'q', parent: '', kind: 'question', atMs: 1, text: 'A haystack' }],
    };
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    await fixture.service.sendRequest({ method: 'POST', path: '/v1/chats/harvest', headers, body });
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('.conversation-item', { hasText: 'Harvest' }).waitFor();
    const prepared = page.waitForResponse((response) => response.url().includes('/v1/chats?query='));
    await page.getByRole('searchbox').focus();
    expect(((await (await prepared).json()) as { data: object[] }).data).toEqual([]);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/v1/chats?query=**', async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('searchbox').fill('haystack');
    await page.locator('.sidebar-empty', { hasText: 'Loading' }).waitFor();
    release();
    await page.locator('.conversation-item', { hasText: 'Harvest' }).waitFor();
    await page.getByRole('searchbox').fill('haystack needle');
    await page.locator('.sidebar-empty', { hasText: 'No results for' }).waitFor();
  });

  it('are stored locally while the service is unreachable, and uploaded afterwards', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await page.route('**/v1/chat**', (route) => route.abort());
    await sendMessage('Written offline');
    await readAnswer();
    expect(await listTitles()).not.toContain('Written offline');
    await page.unroute('**/v1/chat**');
    await expect.poll(listTitles).toContain('Written offline');
  });

  it('are removed from the browser after sign-out', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('The last words');
    await readAnswer();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.question-dialog .danger').click();
    await expect.poll(() => page.evaluate(countTurnsScript)).toBe(0);
    expect(await listTitles()).toContain('The last words');
  });

  it('disappear on one device after they are deleted on another', async () => {
    const first = await fixture.open('demo');
    await first.sendMessage('To be deleted');
    await first.readAnswer();
    const second = await fixture.openAt(`/#key=${callerKey}`);
    const item = second.page.locator('.conversation-item', { hasText: 'To be deleted' });
    await item.waitFor();
    await item.getByRole('button').last().click();
    await second.page.locator('.conversation-menu').getByRole('button', { name: 'Delete' }).click();
    await second.page.getByText('“To be deleted” is deleted.').waitFor();
    await second.reload();
    await first.page.locator('.conversation-item', { hasText: 'To be deleted' }).waitFor({ state: 'detached' });
    expect(await listTitles()).not.toContain('To be deleted');
  });

  it('are deleted on every device by “Delete all chats”', async () => {
    const first = await fixture.open('demo');
    await first.sendMessage('One of many');
    await first.readAnswer();
    const second = await fixture.openAt(`/#key=${callerKey}`);
    await second.page.locator('.conversation-item', { hasText: 'One of many' }).waitFor();
    await second.page.getByRole('button', { name: 'Settings', exact: true }).click();
    await second.page.getByRole('button', { name: 'Delete all chats' }).click();
    await second.page.locator('.question-dialog').getByRole('button', { name: 'Delete' }).click();
    await second.page.getByText('Your chats appear here.').waitFor();
    await first.page.getByText('Your chats appear here.').waitFor();
    expect(await listTitles()).toEqual([]);
  });

  it('are uploaded again from the browser if the server has lost them', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Kept in two places');
    await readAnswer();
    await expect.poll(listTitles).toContain('Kept in two places');
    await page.waitForResponse((response) => response.url().includes('chat-changes'));
    await fixture.database.database.transact(async (kysely) => {
      for (const table of ['chat_turns', 'chats', 'chat_owners'] as const) await kysely.deleteFrom(table).execute();
    });
    expect(await listTitles()).toEqual([]);
    await expect.poll(listTitles).toContain('Kept in two places');
  });
});
