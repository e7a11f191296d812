import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const wide = { width: 1280, height: 720 };
/** The headless shell cannot ask the user whether a button may write to the clipboard. */
const usualPermissions = ['clipboard-write'];
const maxStepMs = 30_000;

/**
 * Pages, each for one test at a time, in a browser context that holds no data. A page whose test passed is emptied and taken by a
 * later test with the same options. It stays at an address of its service: the next load then happens in the same renderer process
 * and needs half the CPU time, as scripts are compiled already.
 */
export class EmptyPages {
  readonly #browser: Browser;
  readonly #idle = new Map<string, Page[]>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Returns a page for the running test. Its data of `origin` are deleted when the test ends. */
  async take(origin: string, { viewport = wide, ...options }: BrowserContextOptions): Promise<Page> {
    const kind = JSON.stringify([origin, options.isMobile === true ? { viewport, ...options } : options]);
    const idle = this.#idle.get(kind) ?? [];
    this.#idle.set(kind, idle);
    const page = idle.pop() ?? (await this.#make({ viewport, ...options }));
    if (viewport !== null) await page.setViewportSize(viewport);
    const usualSettings = async (): Promise<void> => {
      const { colorScheme = 'light', reducedMotion = 'no-preference', contrast = 'no-preference', permissions } = options;
      page.setDefaultTimeout(maxStepMs);
      await page.emulateMedia({ colorScheme, reducedMotion, contrast });
      await page.context().grantPermissions(permissions ?? usualPermissions);
    };
    onTestFinished(async ({ task }) => {
      if (page.isClosed()) return;
      if (task.result?.state !== 'pass' || !(await empty(page, origin))) return page.context().close();
      await usualSettings();
      idle.push(page);
    });
    return page;
  }

  async #make(options: BrowserContextOptions): Promise<Page> {
    // Requests of a worker pass by what a test does to those of the page.
    const serviceWorkers = 'block';
    const context = await this.#browser.newContext({
      locale: 'en-GB',
      permissions: usualPermissions,
      serviceWorkers,
      ...options,
    });
    return context.newPage();
  }
}

/**
 * Deletes what the page keeps. Returns whether the page is as new. It is not if its service has ended, so that no address of that can
 * be opened, or if a test replaced its clock.
 */
async function empty(page: Page, origin: string): Promise<boolean> {
  const context = page.context();
  const others = context.pages().filter((each) => each !== page);
  await Promise.all([...others.map((each) => each.close()), page.unrouteAll({ behavior: 'ignoreErrors' })]);
  for (const heard of ['request', 'pageerror', 'console', 'dialog'] as const) page.removeAllListeners(heard);
  page.once('dialog', (question) => void question.accept());
  // Session storage is only within reach of its origin, and must be cleared after the page has written to it for the last time.
  const left = await page.goto(`${origin}/nothing-here`).catch(() => null);
  if (left === null) return false;
  const hasOwnClock = await page.evaluate(`sessionStorage.clear(), !String(Date).includes('[native code]')`);
  if (hasOwnClock === true) return false;
  page.removeAllListeners('dialog');
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  await context.clearCookies();
  return true;
}
