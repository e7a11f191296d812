import { afterAll, beforeAll, expect, it } from 'vitest';
import { finish, text } from '#test/chunks.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const comeBack = "document.dispatchEvent(new Event('visibilitychange'))";

it.each(viewports)(
  'offers a new version of the page and reloads only after the answer has ended and the user agrees: %s',
  async (_look, options) => {
    const { page, sendMessage, readAnswer, issues } = await fixture.open('scripted', options);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    fixture.upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(text('Begun'));
      await ended;
      await exchange.events(text(' and ended'), finish());
      exchange.done();
    });
    const address = `${fixture.service.url}/`;
    const waitForPage = (): Promise<unknown> => page.waitForResponse(address);
    const unchangedPage = waitForPage();
    await page.evaluate(comeBack);
    await unchangedPage;
    await page.route(address, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace(/assets\/index-[^"]+\.js/, 'assets/index-next.js') });
    });
    await sendMessage('Take your time');
    await page.locator('.markdown').getByText('Begun').waitFor();
    expect(await page.locator('.version-note').count()).toBe(0);
    await page.evaluate(comeBack);
    const note = page.locator('.version-note');
    await note.getByText('when the answer is complete').waitFor();
    expect(await note.getByRole('button', { name: 'Reload' }).count()).toBe(0);
    end();
    expect(await readAnswer()).toMatch(/ ended$/);
    await note.getByRole('button', { name: 'Reload the page' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.unrouteAll();
    await note.getByRole('button', { name: 'Reload the page' }).click();
    await note.waitFor({ state: 'detached' });
    await page.locator('.question').getByText('Take your time').waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  },
);

it('does not show a dismissed version again', async () => {
  const { page } = await fixture.open('demo');
  await page.route(`${fixture.service.url}/`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<script type="module" src="./assets/next.js"></script>' }),
  );
  await page.evaluate(comeBack);
  await page.locator('.version-note').getByRole('button', { name: 'Later' }).click();
  await page.locator('.version-note').waitFor({ state: 'detached' });
  await page.unrouteAll();
});
