import type { Page } from 'playwright-core';
import type { TestPage } from './support.ts';

interface LongConversation {
  readonly deployment: string;
  readonly messages: number;
  readonly getText: (at: number) => string;
}

/** Stores a chat with the title “Long” in the browser and opens it. */
export async function openLongConversation({ page, reload }: TestPage, long: LongConversation): Promise<void> {
  const { deployment, messages, getText } = long;
  const turns = Array.from({ length: messages }, (_, index) => ({
    ...{ conversation: 'long', id: `t${index}`, parent: index === 0 ? '' : `t${index - 1}`, atMs: index },
    ...(index % 2 === 0
      ? { kind: 'question', text: `Question ${index}`, attachments: [] }
      : { kind: 'reply', deployment, state: 'done', text: getText(index), custom: {}, stageTimes: {} }),
  }));
  const head = { id: 'long', title: 'Long', deployment, updatedAtMs: 0 };
  await write(page, {
    heads: [{ ...head, said: 'long' }],
    conversations: [{ ...head, createdAtMs: 0, shown: {} }],
    turns,
  });
  await reload();
  await page.getByRole('link', { name: 'Long' }).click();
}

function write(page: Page, items: Readonly<Record<string, readonly object[]>>): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    indexedDB.open('parley key:test').onsuccess = ({ target }) => {
      const stores = ${JSON.stringify(items)};
      const change = target.result.transaction(Object.keys(stores), 'readwrite');
      for (const [name, items] of Object.entries(stores)) for (const item of items) change.objectStore(name).put(item);
      change.oncomplete = resolve;
    };
  })`);
}

/** Script that returns all browser storage of the page as one text. */
export const storageScript = `(async () => {
  const done = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const said = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.title];
  for (const { name } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name));
    for (const store of database.objectStoreNames)
      said.push(JSON.stringify(await done(database.transaction(store).objectStore(store).getAll())));
    database.close();
  }
  return said.join();
})()`;
