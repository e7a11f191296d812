import { startPostgres } from '#test/start-postgres.ts';
import { callerKey } from '#test/start-service.ts';
import type { Figure } from './figure.ts';
import { createChats, measureUntil, store } from './stored-items.ts';
import { startWebWorld, type WebWorld, type WorldOptions } from './world.ts';

const chatCount = 10_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const createTypingScript = (text: string): string => `(() => {
  const box = document.querySelector('.sidebar input[type=search], .sidebar .search input');
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, ${JSON.stringify(text)});
  box.dispatchEvent(new Event('input', { bubbles: true }));
})()`;

const itemCount = "document.querySelectorAll('.conversation-item').length";
const rounds = 9;

/** Measures the medians of several searches for a single chat by a word, and of the returns to the full list. */
async function measureRounds(page: Awaited<ReturnType<WebWorld['open']>>, where: string): Promise<readonly Figure[]> {
  const searched: number[] = [];
  const listed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    searched.push(await measureUntil(page, createTypingScript(`number${9876 - round}x`), `${itemCount} === 1`));
    await pause(500);
    listed.push(await measureUntil(page, createTypingScript(''), `${itemCount} >= 100`));
    await pause(500);
  }
  const computeMedian = (all: readonly number[]): number =>
    all.toSorted((left, right) => left - right)[rounds >> 1] ?? Number.NaN;
  const toFigure = (what: string, all: readonly number[]): Figure => ({
    ...{ title: `10,000 conversations ${what}, ${where}, median of ${rounds}`, max: 100, unit: 'ms', value: computeMedian(all) },
    details: [`from ${Math.round(Math.min(...all))} to ${Math.round(Math.max(...all))} ms`],
  });
  return [toFigure('searched', searched), toFigure('listed', listed)];
}

/** Measures ten thousand chats that are stored in the browser. */
export async function measureList(world: WebWorld): Promise<readonly Figure[]> {
  const page = await world.open();
  await store(page, createChats(chatCount));
  await page.locator('.conversation-item').nth(50).waitFor();
  const figures = await measureRounds(page, 'in the browser');
  await page.context().close();
  return figures;
}

/**
 * Measures ten thousand chats that the service stores. The search word occurs only in turns, which the browser has not loaded.
 */
async function measureServer(where: string, options: WorldOptions): Promise<readonly Figure[]> {
  await using world = await startWebWorld({ ...options, conversations: 'server' });
  await fill(world);
  const page = await world.openBlank();
  let searchCount = 0;
  page.on('requestfinished', (request) => {
    if (request.url().includes('/v1/chats?query=')) searchCount += 1;
  });
  const openedMs = performance.now();
  await page.goto(world.address);
  while (searchCount < 2) await pause(100);
  const preparedMs = performance.now() - openedMs;
  await pause(3000);
  const first = await measureFirstKey(page, 'number9877x');
  const [searched, listed] = await measureRounds(page, where);
  await writeTurn(world);
  await page.locator('.conversation-item', { hasText: 'Written meanwhile' }).waitFor();
  const afterWriting = await measureFirstKey(page, 'number9876x');
  await page.context().close();
  if (searched === undefined || listed === undefined) return [];
  const details = [
    `${Math.round(afterWriting)} ms after a write since the last search`,
    `a browser without stored chats was ready for it ${(preparedMs / 1000).toFixed(1)} s after the page was opened`,
  ];
  const entered = {
    title: `the first key, pressed as the field is entered, ${where}`,
    max: 100,
    unit: 'ms',
    value: first,
    details,
  };
  return [searched, entered, listed];
}

/** Measures the first search of a page. The page learns about the search only from the first key press. */
async function measureFirstKey(page: Awaited<ReturnType<WebWorld['open']>>, word: string): Promise<number> {
  const enter = "document.querySelector('.sidebar .search input').focus()";
  const ms = await measureUntil(page, `${enter};${createTypingScript(word)}`, `${itemCount} === 1`);
  await measureUntil(page, createTypingScript(''), `${itemCount} >= 100`);
  await page.evaluate('document.activeElement.blur()');
  await pause(1000);
  return ms;
}

export function measureSqlite(): Promise<readonly Figure[]> {
  return measureServer('in SQLite', {});
}

export async function measurePostgres(): Promise<readonly Figure[]> {
  await using server = await startPostgres();
  return await measureServer('in PostgreSQL', { environment: { PARLEY_DATABASE_URL: server.url, PARLEY_SECRET: 'a bench' } });
}

async function writeTurn({ service }: WebWorld): Promise<void> {
  await writeChat(service.url, 'meanwhile', {
    title: 'Written meanwhile',
    deployment: 'demo',
    updatedAtMs: Date.now(),
    turns: [],
  });
}

async function writeChat(url: string, id: string, body: object): Promise<void> {
  const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/chats/${id}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

async function fill({ service }: WebWorld): Promise<void> {
  const nowMs = Date.now();
  const replyText = 'a reply of some hundred characters in plain words about the item '.repeat(6);
  for (let first = 0; first < chatCount; first += 20) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const at = first + index;
        const atMs = nowMs - at * 3_600_000;
        const turns = [
          { id: 'q', parent: '', kind: 'question', atMs, text: `What became of number${at}x?`, attachments: [] },
          { id: 'a', parent: 'q', kind: 'reply', atMs: atMs + 1, deployment: 'demo', state: 'done', text: replyText },
        ];
        const title = `Conversation ${at} about the harvest`;
        await writeChat(service.url, `kept${at}`, { title, deployment: 'demo', updatedAtMs: atMs, turns });
      }),
    );
  }
}
