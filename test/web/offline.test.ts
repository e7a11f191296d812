import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { type PageFront, startPageFront } from './page-front.ts';
import type { TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: ChatsFixture;
let front: PageFront;

beforeAll(async () => {
  fixture = await startChatsFixture();
  front = await startPageFront(fixture.service.url);
});

afterEach(() => front.comeBack());

afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

const allowed: BrowserContextOptions = { serviceWorkers: 'allow' };
const cacheNamesScript = "caches.keys().then((names) => names.filter((name) => name.startsWith('parley page ')))";
const cachedPathsScript = `caches.keys()
  .then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys()))))
  .then((all) => all.flat().map(({ url }) => new URL(url).pathname))`;
/** Whether the service worker has cached a complete build and controls this page. */
const isCached = `navigator.serviceWorker.controller?.state === 'activated'`;

/** Opens the page through the proxy, signs in, and waits until the service worker controls the page. */
async function openCached(options: BrowserContextOptions = {}): Promise<TestPage> {
  const opened = await fixture.browser.open(`${front.url}/#key=${callerKey}`, { ...allowed, ...options });
  await opened.page.locator('.starter').first().waitFor();
  await until(opened.page, isCached);
  return opened;
}

const until = (page: Page, claim: string) => expect.poll(() => page.evaluate(claim), { timeout: 60_000 }).toBe(true);

const banner = (page: Page) => page.locator('.offline-note');

describe('the page without a network', () => {
  it.each(viewports)('opens with the cached chats, shows a notice, and keeps drafts: %s', async (look, options) => {
    const opened = await openCached(options);
    const { page, sendMessage, readAnswer } = opened;
    const question = `What is kept in ${look}?`;
    await sendMessage(question);
    const answerText = await readAnswer();
    await expect.poll(async () => (await page.evaluate('location.hash')) as string).toMatch(/^#\/chat\//);
    front.goAway();
    await page.reload();
    await banner(page).getByText('The service cannot be reached. You can read the chats saved in this browser').waitFor();
    await expect.poll(readAnswer).toBe(answerText);
    // The page takes the rest of the window, so that the settings at its end stay in view.
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0);
    if (look !== 'phone') await page.locator('.conversation-list').getByRole('link', { name: question }).waitFor();
    await page.locator('#message').fill('A draft of mine');
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await page.locator('#message').press('Enter');
    expect(await page.locator('.question').count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.reload();
    await banner(page).waitFor();
    expect(await page.locator('#message').inputValue()).toBe('A draft of mine');
    front.comeBack();
    await banner(page).waitFor({ state: 'detached' });
    await page.locator('#message').press('Enter');
    await page.locator('.question', { hasText: 'A draft of mine' }).waitFor();
    await readAnswer();
    expect(await page.locator('.reply').count()).toBe(2);
    expect(opened.issues).toEqual({ externalRequests: [], errors: [] });
  });

  it.each(viewports)('lets a user read cached chats without signing in, but not change them: %s', async (look, options) => {
    const { page, sendMessage, readAnswer } = await openCached(options);
    const question = `Read me later in ${look}`;
    await sendMessage(question);
    const answerText = await readAnswer();
    await page.locator('#message').fill('Never sent');
    front.goAway();
    await page.goto('about:blank');
    const other = await page.context().newPage();
    await other.goto(front.url);
    await other.getByText('The service cannot be reached, so you can’t sign in').waitFor();
    expect(await findViolations(other)).toEqual([]);
    await other.getByRole('button', { name: 'Read saved chats' }).click();
    await other.getByText('You can read the chats saved in this browser').waitFor();
    expect(await findViolations(other)).toEqual([]);
    await other.getByRole('button', { name: question }).click();
    await other.locator('.reply .markdown', { hasText: answerText.slice(0, 20) }).waitFor();
    expect(await other.locator('#message, .composer, .edit-question').count()).toBe(0);
    expect(await findViolations(other)).toEqual([]);
    expect(await measureOverflow(other)).toBe(0);
    front.comeBack();
    if (look === 'phone') await other.getByRole('button', { name: 'Chats' }).click();
    await other.getByText('The service can be reached again').waitFor();
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByLabel('Key').fill(callerKey);
    await other.keyboard.press('Enter');
    await other.locator('#message').waitFor();
    await other.close();
  });

  it('shows no cached chats after sign-out', async () => {
    const { page, sendMessage, readAnswer } = await openCached();
    await sendMessage('Gone with me');
    await readAnswer();
    await page.locator('#message').fill('And this');
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.question-dialog .danger').click();
    await page.getByLabel('Key').waitFor();
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toMatch(/And this|known/);
    front.goAway();
    await page.reload();
    await page.getByText('so you can’t sign in').waitFor();
    expect(await page.getByRole('button', { name: 'Read saved chats' }).count()).toBe(0);
  });

  it('ignores the key of a link and keeps the session of the tab', async () => {
    const { page } = await openCached();
    front.goAway();
    await page.evaluate("location.hash = '#key=another'");
    await page.waitForURL((url) => url.hash === '');
    await page.reload();
    await page.locator('#message').waitFor();
    expect(await page.getByLabel('Key').count()).toBe(0);
  });
});

describe('the page cache in the browser', () => {
  it('contains only files of the page, without API responses and the API reference', async () => {
    const { page, sendMessage, readAnswer } = await openCached();
    await sendMessage('Hello');
    await readAnswer();
    await page.evaluate("location.hash = '#/usage'");
    await page.locator('main h1').first().waitFor();
    const reference = await page.context().newPage();
    await reference.goto(`${front.url}/docs/`);
    await reference.close();
    const addresses = (await page.evaluate(cachedPathsScript)) as readonly string[];
    expect(addresses.length).toBeGreaterThan(20);
    expect(addresses.filter((path) => !/^\/($|assets\/|parley\.svg$|sheet\.(html|js)$|brand\/)/.test(path))).toEqual([]);
    front.goAway();
    const away = await page.context().newPage();
    await expect(away.goto(`${front.url}/docs/`)).rejects.toThrow();
    await away.close();
  });

  it('is filled by a service worker that the browser revalidates and that may connect only to the service', async () => {
    const { headers } = await fixture.service.app.inject('/service-worker.js');
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': "default-src 'none'; connect-src 'self'",
    });
  });

  it('is deleted, even before sign-in, if the operator turns it off', async () => {
    const { page } = await openCached();
    await page.locator('#message').fill('A draft');
    await page.evaluate("caches.open('of a neighbour').then(() => true)");
    const before = fixture.service.snapshot.current().configuration;
    fixture.service.snapshot.replace({ ...before, page: { ...before.page, offline: false } });
    try {
      const other = await page.context().newPage();
      // Otherwise the first tab would share its sign-in.
      await other.addInitScript('globalThis.BroadcastChannel = class { postMessage() {} close() {} }');
      await other.goto(front.url);
      await other.getByLabel('Key').waitFor();
      await until(
        other,
        `Promise.all([navigator.serviceWorker.getRegistrations(), caches.keys()])
        .then(([workers, names]) => workers.length === 0 && names.join() === 'of a neighbour')`,
      );
      expect(await other.evaluate('Object.keys(localStorage).filter((name) => /known|draft/.test(name))')).toEqual([]);
      await page.reload();
      await page.locator('#message').waitFor();
      expect(await page.locator('#message').inputValue()).toBe('A draft');
      expect(await page.evaluate('Object.keys(localStorage).filter((name) => /known|draft/.test(name))')).toEqual([]);
      expect(await page.evaluate('caches.keys()')).toEqual(['of a neighbour']);
    } finally {
      fixture.service.snapshot.replace(before);
    }
  });
});

describe('a new build of the page', () => {
  it('is cached completely, and an open tab can still load its own files', async () => {
    await using folder = await openFolder();
    const built = fileURLToPath(new URL('../../web/dist', import.meta.url));
    const { page } = await openCached();
    const [first] = (await page.evaluate(cacheNamesScript)) as readonly string[];
    await createNextBuild(built, folder.path);
    await front.servePageFrom(folder.path);
    await page.evaluate('navigator.serviceWorker.ready.then((registration) => registration.update())');
    await until(page, `${cacheNamesScript}.then((names) => names.length === 2)`);
    await until(
      page,
      `navigator.serviceWorker.ready.then(({ active, installing, waiting }) => active?.state === 'activated' && !installing && !waiting)`,
    );
    await page.evaluate("location.hash = '#/usage'");
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    front.goAway();
    const other = await page.context().newPage();
    await other.goto(front.url);
    await other.locator('#message').waitFor();
    const script = await other.locator('script[type=module]').getAttribute('src');
    expect(script).toMatch(/-next\.js$/);
    expect(await page.evaluate(cacheNamesScript)).toEqual([first, expect.not.stringMatching(String(first))]);
    await other.close();
  });
});

/** Copies the build and renames every script, as if all scripts had changed. */
async function createNextBuild(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true });
  const names = (await readdir(join(to, 'assets'))).filter((name) => name.endsWith('.js'));
  for (const file of await readdir(to, { recursive: true })) {
    if (!/\.(js|html|css)$/.test(file)) {
      if (/\.(br|gz)$/.test(file)) await rename(join(to, file), join(to, `${file}.old`));
      continue;
    }
    let text = await readFile(join(to, file), 'utf8');
    for (const name of names) text = text.replaceAll(name, name.replace('.js', '-next.js'));
    await writeFile(
      join(to, file),
      text.replace(/id:\s*[`"'][0-9a-f]{16}/, (id) => `${id.slice(0, -4)}next`),
    );
  }
  for (const name of names) await rename(join(to, 'assets', name), join(to, 'assets', name.replace('.js', '-next.js')));
}
