import { startPostgres } from '#test/start-postgres.ts';
import { callerKey } from '#test/start-service.ts';
import type { Figure } from './figure.ts';
import { keep, msUntil, toMany } from './kept.ts';
import { startWebWorld, type WebWorld, type WorldOptions } from './world.ts';

const many = 10_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const typed = (text: string): string => `(() => {
  const box = document.querySelector('.sidebar input[type=search], .sidebar .search input');
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, ${JSON.stringify(text)});
  box.dispatchEvent(new Event('input', { bubbles: true }));
})()`;

const heads = "document.querySelectorAll('.head').length";
const rounds = 9;

/** Medians of several searches for one of them by a word, and of the ways back to all. */
async function measureRounds(page: Awaited<ReturnType<WebWorld['open']>>, where: string): Promise<readonly Figure[]> {
  const searched: number[] = [];
  const listed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    searched.push(await msUntil(page, typed(`number${9876 - round}x`), `${heads} === 1`));
    await pause(500);
    listed.push(await msUntil(page, typed(''), `${heads} >= 100`));
    await pause(500);
  }
  const middle = (all: readonly number[]): number => all.toSorted((one, other) => one - other)[rounds >> 1] ?? Number.NaN;
  const toFigure = (what: string, all: readonly number[]): Figure => ({
    ...{ title: `10,000 conversations ${what}, ${where}, median of ${rounds}`, wanted: 100, unit: 'ms', got: middle(all) },
    details: [`from ${Math.round(Math.min(...all))} to ${Math.round(Math.max(...all))} ms`],
  });
  return [toFigure('searched', searched), toFigure('listed', listed)];
}

/** Ten thousand that a browser keeps. */
export async function measureList(world: WebWorld): Promise<readonly Figure[]> {
  const page = await world.open();
  await keep(page, toMany(many));
  await page.locator('.head').nth(50).waitFor();
  const figures = await measureRounds(page, 'in the browser');
  await page.context().close();
  return figures;
}

/** Ten thousand that the service keeps; what is looked for stands in their turns alone, and the browser has read none of them. */
async function measureServer(where: string, options: WorldOptions): Promise<readonly Figure[]> {
  await using world = await startWebWorld({ ...options, conversations: 'server' });
  await fill(world);
  const page = await world.blank();
  await page.goto(world.address);
  await page.locator('.head').nth(50).waitFor();
  await pause(5000);
  await page.locator('.sidebar .search input').focus();
  const first = await msUntil(page, typed('number9877x'), `${heads} === 1`);
  await msUntil(page, typed(''), `${heads} >= 100`);
  await pause(1000);
  const [searched, listed] = await measureRounds(page, where);
  await page.context().close();
  if (searched === undefined || listed === undefined) return [];
  const details = [...(searched.details ?? []), `${Math.round(first)} ms if the first key is pressed as the field is entered`];
  return [{ ...searched, details }, listed];
}

export function measureSqlite(): Promise<readonly Figure[]> {
  return measureServer('in SQLite', {});
}

export async function measurePostgres(): Promise<readonly Figure[]> {
  await using server = await startPostgres();
  return await measureServer('in PostgreSQL', { environment: { PARLEY_DATABASE_URL: server.url, PARLEY_SECRET: 'a bench' } });
}

async function fill({ service }: WebWorld): Promise<void> {
  const nowMs = Date.now();
  const said = 'what was said of it, in a few hundred characters of plain words '.repeat(6);
  for (let first = 0; first < many; first += 20) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, nth) => {
        const at = first + nth;
        const atMs = nowMs - at * 3_600_000;
        const turns = [
          { id: 'q', parent: '', kind: 'question', atMs, text: `What became of number${at}x?`, attachments: [] },
          { id: 'a', parent: 'q', kind: 'reply', atMs: atMs + 1, deployment: 'demo', state: 'done', text: said },
        ];
        const body = { title: `Conversation ${at} about the harvest`, deployment: 'demo', updatedAtMs: atMs, turns };
        const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
        const answer = await fetch(`${service.url}/v1/chats/kept${at}`, { method: 'POST', headers, body: JSON.stringify(body) });
        if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
        await answer.arrayBuffer();
      }),
    );
  }
}
