import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/**
 * Pages, each for one test at a time and nowhere at its beginning, in a browser context that holds nothing. A new context costs a
 * second or two of the machine, as nothing in it is compiled or cached; one that is emptied costs a third, and looks as new.
 */
export class EmptyPages {
  readonly #browser: Browser;
  readonly #idle = new Map<string, Page[]>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Until the test is over. `origin`: whose data are deleted then. */
  async take(origin: string, options: BrowserContextOptions): Promise<Page> {
    const kind = JSON.stringify([origin, options]);
    const idle = this.#idle.get(kind) ?? [];
    this.#idle.set(kind, idle);
    const page = idle.pop() ?? (await this.#make(options));
    onTestFinished(async ({ task }) => {
      if (page.isClosed()) return;
      if (task.result?.state === 'pass') idle.push(await empty(page, origin));
      else await page.context().close();
    });
    return page;
  }

  async #make(options: BrowserContextOptions): Promise<Page> {
    // The shell has nobody to ask whether a button may write to the clipboard.
    const permissions = ['clipboard-write'];
    // Requests of a worker pass by what a test does to those of the page.
    const serviceWorkers = 'block';
    const context = await this.#browser.newContext({ locale: 'en-GB', permissions, serviceWorkers, ...options });
    return context.newPage();
  }
}

async function empty(page: Page, origin: string): Promise<Page> {
  const context = page.context();
  const others = context.pages().filter((each) => each !== page);
  await Promise.all([...others.map((each) => each.close()), page.unrouteAll({ behavior: 'ignoreErrors' })]);
  for (const heard of ['request', 'pageerror', 'console', 'dialog'] as const) page.removeAllListeners(heard);
  page.once('dialog', (question) => void question.accept());
  // What a tab keeps of the session is in reach of its own origin alone.
  if (!page.url().startsWith(`${origin}/`)) await page.goto(`${origin}/nothing-here`);
  await page.evaluate('sessionStorage.clear()');
  await page.goto('about:blank');
  page.removeAllListeners('dialog');
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  await context.clearCookies();
  return page;
}
