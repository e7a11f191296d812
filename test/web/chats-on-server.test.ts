import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type ChatsHouse, startChatsHouse } from './chats-house.ts';

let house: ChatsHouse;

beforeAll(async () => {
  house = await startChatsHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

const stored = async (): Promise<readonly { id: string; title: string }[]> => {
  const { json } = await house.service.sendRequest({ method: 'GET', path: '/v1/chats', headers: { 'api-key': callerKey } });
  return (json as { data: { id: string; title: string }[] }).data;
};

const titles = async () => (await stored()).map(({ title }) => title);

const countKept = `new Promise((resolve) => {
  indexedDB.open('parley key:test').onsuccess = ({ target: { result } }) => {
    result.transaction('turns').objectStore('turns').count().onsuccess = ({ target }) => {
      const { result: count } = target;
      result.close();
      resolve(count);
    };
  };
})`;

/** Creates the database of a page version that did not sync with the server. */
const keepAsBefore = `new Promise((resolve) => {
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
    const one = await house.open('demo');
    await one.say('Hello from the first');
    await one.answer();
    await expect.poll(titles).toContain('Hello from the first');
    const two = await house.openAt(`/#key=${callerKey}`);
    await two.page.getByRole('link', { name: 'Hello from the first' }).click();
    await two.answer();
    await two.say('And from the second');
    await two.answer();
    await one.page.locator('.question', { hasText: 'And from the second' }).waitFor({ timeout: 15_000 });
    await one.page.locator('.reply').nth(1).waitFor({ timeout: 15_000 });
    expect([one.troubles, two.troubles]).toEqual(Array(2).fill({ outside: [], faults: [] }));
  });

  it('are uploaded from a browser that stored them locally, and the search finds their text', async () => {
    const here = await house.openAt('/health');
    await here.page.evaluate(keepAsBefore);
    await here.page.goto(`${house.service.url}/#key=${callerKey}`);
    await expect.poll(titles).toContain('Long');
    const there = await house.openAt(`/#key=${callerKey}`);
    await there.page.getByRole('searchbox').fill('the needle');
    await there.page.locator('.head', { hasText: 'Long' }).getByRole('link').click();
    await there.page.locator('.reply', { hasText: 'The needle' }).waitFor();
  });

  it('are prepared for the search after the page opens, before the user focuses the search field', async () => {
    const { page } = await house.openAt('/health');
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/v1/chats?query=') && asked.push(request.url()));
    await page.goto(`${house.service.url}/#key=${callerKey}`);
    await expect
      .poll(() => asked.map((url) => new URL(url).searchParams.get('archived')), { timeout: 15_000 })
      .toEqual(['false', 'true']);
  });

  it('are loaded for the search when the user focuses the field, and “No results” appears only after the search is complete', async () => {
    const body = {
      title: 'Harvest',
      updatedAtMs: 1,
      turns: [{ id: 'q', parent: '', kind: 'question', atMs: 1, text: 'A haystack' }],
    };
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    await house.service.sendRequest({ method: 'POST', path: '/v1/chats/harvest', headers, body });
    const { page } = await house.openAt(`/#key=${callerKey}`);
    await page.locator('.head', { hasText: 'Harvest' }).waitFor({ timeout: 15_000 });
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
    await page.locator('.head', { hasText: 'Harvest' }).waitFor();
    await page.getByRole('searchbox').fill('haystack needle');
    await page.locator('.sidebar-empty', { hasText: 'No results for' }).waitFor();
  });

  it('are stored locally while the service is unreachable, and uploaded afterwards', async () => {
    const { page, say, answer } = await house.open('demo');
    await page.route('**/v1/chat**', (route) => route.abort());
    await say('Written offline');
    await answer();
    expect(await titles()).not.toContain('Written offline');
    await page.unroute('**/v1/chat**');
    await expect.poll(titles, { timeout: 15_000 }).toContain('Written offline');
  });

  it('are removed from the browser after sign-out', async () => {
    const { page, say, answer } = await house.open('demo');
    await say('The last words');
    await answer();
    await page.getByText('Settings').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect.poll(() => page.evaluate(countKept)).toBe(0);
    expect(await titles()).toContain('The last words');
  });

  it('disappear on one device after they are deleted on another', async () => {
    const one = await house.open('demo');
    await one.say('To be deleted');
    await one.answer();
    const two = await house.openAt(`/#key=${callerKey}`);
    const head = two.page.locator('.head', { hasText: 'To be deleted' });
    await head.waitFor({ timeout: 15_000 });
    await head.getByRole('button').last().click();
    await two.page.locator('.head-choices').getByRole('button', { name: 'Delete' }).click();
    await two.page.getByText('“To be deleted” is deleted.').waitFor();
    await two.reload();
    await one.page.locator('.head', { hasText: 'To be deleted' }).waitFor({ state: 'detached', timeout: 15_000 });
    expect(await titles()).not.toContain('To be deleted');
  });

  it('are deleted on every device by “Delete all chats”', async () => {
    const one = await house.open('demo');
    await one.say('One of many');
    await one.answer();
    const two = await house.openAt(`/#key=${callerKey}`);
    await two.page.locator('.head', { hasText: 'One of many' }).waitFor({ timeout: 15_000 });
    await two.page.getByText('Settings').click();
    await two.page.getByRole('button', { name: 'Delete all chats' }).click();
    await two.page.locator('.question-dialog').getByRole('button', { name: 'Delete' }).click();
    await two.page.getByText('Your chats appear here.').waitFor();
    await one.page.getByText('Your chats appear here.').waitFor({ timeout: 15_000 });
    expect(await titles()).toEqual([]);
  });

  it('are uploaded again from the browser if the server has lost them', async () => {
    const { page, say, answer } = await house.open('demo');
    await say('Kept in two places');
    await answer();
    await expect.poll(titles).toContain('Kept in two places');
    await page.waitForResponse((response) => response.url().includes('chat-changes'));
    await house.database.database.transact(async (kysely) => {
      for (const table of ['chat_turns', 'chats', 'chat_owners'] as const) await kysely.deleteFrom(table).execute();
    });
    expect(await titles()).toEqual([]);
    await expect.poll(titles, { timeout: 15_000 }).toContain('Kept in two places');
  });
});
