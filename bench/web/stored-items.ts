import type { Page } from 'playwright-core';

type StoredItems = Readonly<Record<string, readonly object[]>>;

/** Stores chats in the database of the browser and reloads the page. */
export async function store(page: Page, items: StoredItems): Promise<void> {
  await page.evaluate(
    `((items) => new Promise((resolve, reject) => {
      indexedDB.databases().then((all) => {
        const { name } = all.find((each) => each.name.startsWith('parley '));
        indexedDB.open(name).onsuccess = ({ target }) => {
          const change = target.result.transaction(Object.keys(items), 'readwrite');
          for (const [store, values] of Object.entries(items)) for (const value of values) change.objectStore(store).put(value);
          change.oncomplete = () => { target.result.close(); resolve(); };
          change.onabort = () => reject(change.error);
        };
      });
    }))(${JSON.stringify(items)})`,
  );
  await page.goto('about:blank');
  await page.goBack();
  await page.locator('#message').waitFor();
}

/** Creates a chat with the title “Long” with alternating questions and answers. */
export function createLongChat(messages: number, toText: (index: number) => string): StoredItems {
  const head = { id: 'long', title: 'Long', deployment: 'scripted', updatedAtMs: Date.now() };
  const turns = Array.from({ length: messages }, (_, index) => ({
    ...{ conversation: 'long', id: `t${index}`, parent: index === 0 ? '' : `t${index - 1}`, atMs: index },
    ...(index % 2 === 0
      ? { kind: 'question', text: `Question ${index}`, attachments: [] }
      : { kind: 'reply', deployment: 'scripted', state: 'done', text: toText(index), custom: {}, stageTimes: {} }),
  }));
  return { heads: [{ ...head, said: 'long' }], conversations: [{ ...head, createdAtMs: 0, shown: {} }], turns };
}

/** Creates chats one hour apart. Each has a unique number. */
export function createChats(count: number): StoredItems {
  const nowMs = Date.now();
  const heads = Array.from({ length: count }, (_, index) => {
    const title = `Conversation number${index}x about the harvest`;
    const said = `${title.toLowerCase()}\n${'a reply of some hundred characters in plain words about the item '.repeat(6)}`;
    return { id: `kept${index}`, title, deployment: 'demo', updatedAtMs: nowMs - index * 3_600_000, said };
  });
  return { heads };
}

/** Runs `act`, an expression, in the page. Returns the time until `isThere` is true at the end of a frame. */
export async function measureUntil(page: Page, act: string, isThere: string): Promise<number> {
  const ms = await page.evaluate(`new Promise((resolve, reject) => {
    const beganMs = performance.now();
    ${act};
    const look = () => {
      if (${isThere}) resolve(performance.now() - beganMs);
      else if (performance.now() - beganMs > 120_000) reject(new Error('This never became true: ' + ${JSON.stringify(isThere)}));
      else requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = look; port2.postMessage(0); });
    };
    look();
  })`);
  return Number(ms);
}
