import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const wide = { width: 1280, height: 720 };
/** The headless shell cannot ask the user whether a button may write to the clipboard. */
const defaultPermissions = ['clipboard-write'];
const maxStepMs = 60_000;

/**
 * Pool of pages in browser contexts without data. One test uses a page at a time. After a test has passed, the pool deletes the
 * data of its page and lends the page to a later test with the same options. The page stays at an address of its service. So the
 * next load happens in the same renderer process, whose scripts are compiled, and needs half the CPU time.
 */
export class EmptyPages {
  readonly #browser: Browser;
  readonly #idle = new Map<string, Page[]>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Returns a page for the running test. Its data of `origin` are deleted when the test ends. */
  async acquire(origin: string, options: BrowserContextOptions): Promise<Page> {
    const { viewport = wide, colorScheme, reducedMotion, contrast, permissions, ...fixed } = options;
    const kind = JSON.stringify(fixed.isMobile === true ? { viewport, ...fixed } : fixed);
    const idle = this.#idle.get(kind) ?? [];
    this.#idle.set(kind, idle);
    const page = idle.pop() ?? (await this.#create({ viewport, ...fixed }));
    page.setDefaultTimeout(maxStepMs);
    if (viewport !== null) await page.setViewportSize(viewport);
    await page.emulateMedia({
      colorScheme: colorScheme ?? 'light',
      reducedMotion: reducedMotion ?? 'no-preference',
      contrast: contrast ?? 'no-preference',
    });
    await page.context().grantPermissions([...(permissions ?? defaultPermissions)]);
    onTestFinished(async ({ task }) => {
      if (page.isClosed()) return;
      if (task.result?.state === 'pass' && (await empty(page, origin))) idle.push(page);
      else await page.context().close();
    });
    return page;
  }

  async #create(options: BrowserContextOptions): Promise<Page> {
    // Routes of a page do not apply to requests of its service worker.
    const serviceWorkers = 'block';
    const context = await this.#browser.newContext({ locale: 'en-GB', serviceWorkers, ...options });
    return context.newPage();
  }
}

/**
 * Deletes the data of the page. Returns whether the page can be used again. It cannot if its service has ended, because none of
 * its addresses can be opened, or if a test replaced its clock.
 */
async function empty(page: Page, origin: string): Promise<boolean> {
  const context = page.context();
  const otherPages = context.pages().filter((each) => each !== page);
  await Promise.all([...otherPages.map((each) => each.close()), page.unrouteAll({ behavior: 'ignoreErrors' })]);
  for (const eventName of ['request', 'pageerror', 'console', 'dialog'] as const) page.removeAllListeners(eventName);
  page.once('dialog', (question) => void question.accept());
  // Only scripts of its origin can clear the session storage, and only after the page has written to it for the last time.
  const response = await page.goto(`${origin}/nothing-here`).catch(() => null);
  if (response === null) return false;
  // A replaced clock stays in the context, and has no entries of `performance`.
  const hasOwnClock = await page.evaluate(`sessionStorage.clear(), performance.getEntriesByType('navigation').length === 0`);
  if (hasOwnClock === true) return false;
  page.removeAllListeners('dialog');
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  await context.clearCookies();
  return true;
}
