import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 20"><script>document.title = 1</script><path d="M0 0h60v20H0z" fill="#c04"/></svg>';
const name = 'Acme & "Sons" $1';
const page = {
  ...{ name, accent: '#ffdd00', notice: 'Maintenance on Sunday.\nNothing of <b>yours</b> is lost.' },
  logo: `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`,
};

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture({ page });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const get = (url: string) => fixture.service.app.inject({ url });

describe('the page with an operator’s branding', () => {
  it.each(viewports)(
    'shows the name, logo, color, and notice, and has no accessibility violations: %s',
    async (look, options) => {
      const opened = await fixture.openAt('/', options);
      await opened.page.getByLabel('Key').waitFor();
      expect(await opened.page.title()).toBe(name);
      const description = await opened.page.locator('meta[name=description]').getAttribute('content');
      expect(description).toContain(`${name}.`);
      await opened.page.getByRole('heading', { level: 1, name }).waitFor();
      await opened.page.getByText('Nothing of <b>yours</b> is lost.').waitFor();
      expect(await opened.page.evaluate("document.querySelector('img.logo').naturalWidth")).toBeGreaterThan(0);
      expect(await findViolations(opened.page)).toEqual([]);
      await opened.page.getByLabel('Key').fill(callerKey);
      await opened.page.keyboard.press('Enter');
      await opened.page.locator('.start-view').waitFor();
      await opened.page.getByText('Maintenance on Sunday.').waitFor();
      if (look === 'phone') await opened.page.getByRole('button', { name: 'Show chats' }).click();
      await opened.page.locator('.sidebar').getByRole('link', { name }).waitFor();
      for (const [colorScheme, accent] of [
        ['dark', 'rgb(255, 221, 0)'],
        ['light', 'rgb(122, 106, 0)'],
      ] as const) {
        await opened.page.emulateMedia({ colorScheme });
        expect(await opened.page.evaluate("getComputedStyle(document.querySelector('.skip-link')).backgroundColor")).toBe(accent);
      }
      expect(await findViolations(opened.page)).toEqual([]);
      expect(await measureOverflow(opened.page)).toBe(0);
      expect(opened.issues).toEqual({ externalRequests: [], errors: [] });
    },
  );

  it('has a manifest with the configured name and serves the logo so that it runs no scripts', async () => {
    const manifest = (await get('/manifest.webmanifest')).json();
    expect(manifest).toMatchObject({ name, display: 'standalone', start_url: './' });
    const logo = await get('/brand/logo');
    expect([logo.headers['content-type'], logo.body]).toEqual(['image/svg+xml', picture]);
    expect(logo.headers['content-security-policy']).toContain('sandbox');
    expect((await get('/')).body).toMatch(/<link rel="icon" href="\.\/brand\/logo\?[\w-]+">/);
  });
});

it('shows the default name and logo of Parley without branding', async () => {
  await using plain = await startPageFixture();
  const { page: opened, issues } = await plain.openAt('/');
  await opened.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor();
  expect([await opened.title(), await opened.locator('svg.mark').count()]).toEqual(['Parley', 1]);
  expect((await plain.service.app.inject({ url: '/brand/logo' })).statusCode).toBe(404);
  expect((await plain.service.app.inject({ url: '/manifest.webmanifest' })).json().name).toBe('Parley');
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
