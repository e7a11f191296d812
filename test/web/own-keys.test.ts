import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FreshDatabase, freshSqlite } from '#test/sql-engines.ts';
import { createKeyStores, type OpenDatabase } from '#test/sql-stores.ts';
import type { TestService } from '#test/start-service.ts';
import { audience, type OidcServer, startOidcServer } from '../identity/oidc-server.ts';
import { startBrowser, startPageService, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

const noIssues = { externalRequests: [], errors: [] };
let browser: TestBrowser;
let fresh: FreshDatabase;
let opened: OpenDatabase;
let service: TestService;
let oidc: OidcServer;

beforeAll(async () => {
  browser = await startBrowser();
  fresh = await freshSqlite();
  opened = await fresh.open();
  service = await startPageService({}, { keys: { ...createKeyStores(opened.database), isShared: false } });
  oidc = await startOidcServer((user) => (user === 'guest' ? ['guest'] : ['staff']), `${service.url}/`);
  const provider = { issuer: oidc.issuer, audience, rolesClaim: 'realm_access.roles' };
  const signIn = { clientId: 'page', displayName: 'Example Corp', scopes: ['openid', 'use'] };
  service.reload({
    models: { demo: { displayName: 'Demo', upstreams: [{ protocol: 'demo' }] } },
    identityProviders: { corporate: { ...provider, signIn } },
    roles: { staff: { selfService: { keys: 2, maxDays: 60 } }, guest: {} },
  });
});

afterAll(async () => {
  await service.close();
  await oidc.stop();
  await opened.close();
  await fresh[Symbol.asyncDispose]();
});

/** Signs the user in and opens the dialog for use from code. */
async function openDialog(
  user: string,
  options?: BrowserContextOptions,
): Promise<TestPage & { dialog: ReturnType<TestPage['page']['getByRole']> }> {
  const at = await browser.open(`${service.url}/`, options);
  const { page } = at;
  await page.getByRole('button', { name: 'Example Corp' }).click();
  await page.getByLabel('User').fill(user);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('#message').waitFor();
  await page.locator('.page-header').getByRole('button', { name: 'Use from code' }).click();
  const dialog = page.getByRole('dialog', { name: 'Use Demo from code' });
  await dialog.waitFor();
  return { ...at, dialog };
}

/** Returns the issues without the requests to the identity provider, which are part of the sign-in. */
const getIssues = ({ issues }: TestPage) => ({
  ...issues,
  externalRequests: issues.externalRequests.filter((url) => !url.startsWith(oidc.issuer)),
});

describe('a key that is created in the dialog “Use from code”', () => {
  it('is shown once, works in the snippets, and is listed with its last use until the user deletes it', async () => {
    const at = await openDialog('ada');
    const { page, dialog } = at;
    await dialog.getByRole('heading', { name: 'Your own key' }).waitFor();
    expect(await dialog.getByText('Ask your administrator for a key').count()).toBe(0);
    const worksFor = dialog.getByLabel('It works for');
    expect(await worksFor.inputValue()).toBe('30');
    expect(await worksFor.locator('option').allTextContents()).toEqual(['one day', '7 days', '30 days', '60 days']);
    await worksFor.selectOption('7 days');
    await dialog.getByLabel('Name (optional)').fill('Notebook');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    const key = await dialog.getByRole('textbox', { name: 'Your new key' }).inputValue();
    expect(key).toMatch(/^parley_u_/);
    const item = dialog.getByRole('listitem').filter({ hasText: 'Notebook' });
    expect(await item.textContent()).toContain('not used yet');
    expect(await item.textContent()).not.toContain(key);

    const snippet = async (name: string) => {
      await dialog.getByRole('radio', { name, exact: true }).check();
      return (await dialog.locator('.code-block').last().locator('code').textContent()) ?? '';
    };
    const { stdout } = await promisify(execFile)('sh', ['-c', await snippet('curl')]);
    expect(stdout).toMatch(/"role":"assistant","content":"[^"]/);
    expect(await snippet('Claude Code')).toContain(`export KEY=${key}\n`);
    expect(await snippet('Python')).not.toContain(key);
    await dialog.getByText(`export KEY=${key}`).waitFor();
    expect(await findViolations(page)).toEqual([]);

    await dialog.getByRole('button', { name: 'Close' }).click();
    // The service stores the last use every few seconds.
    await vi.waitFor(
      async () => {
        await page.locator('.page-header').getByRole('button', { name: 'Use from code' }).click();
        await item.waitFor();
        const itemText = await item.textContent();
        await dialog.getByRole('button', { name: 'Close' }).click();
        expect(itemText).toContain('last used');
      },
      { interval: 1_000 },
    );
    await page.locator('.page-header').getByRole('button', { name: 'Use from code' }).click();
    await dialog.getByRole('button', { name: 'Create a key' }).waitFor();
    expect(await dialog.textContent()).not.toContain(key);
    await dialog.getByRole('button', { name: 'Delete the key Notebook' }).click();
    await item.waitFor({ state: 'detached' });
    const rejection = await service.sendRequest({ method: 'GET', path: '/v1/models', headers: { 'api-key': key } });
    expect(rejection.status).toBe(401);
    expect(getIssues(at)).toEqual(noIssues);
  });

  it('cannot be created beyond the limit of the user, which the dialog shows', async () => {
    const { dialog } = await openDialog('grace');
    for (const nth of [1, 2]) {
      await dialog.getByRole('button', { name: 'Create a key' }).click();
      await dialog.getByRole('textbox', { name: 'Your new key' }).waitFor();
      if (nth === 2) continue;
      await dialog.getByRole('button', { name: 'Close' }).click();
      await dialog.page().locator('.page-header').getByRole('button', { name: 'Use from code' }).click();
    }
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.page().locator('.page-header').getByRole('button', { name: 'Use from code' }).click();
    await dialog.getByText('You have 2 keys, which is the maximum.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
    await dialog
      .getByRole('button', { name: /^Delete the key/ })
      .first()
      .click();
    await dialog.getByRole('button', { name: 'Create a key' }).waitFor();
  });

  it('is not offered to a user whose role does not allow keys', async () => {
    const { dialog } = await openDialog('guest');
    await dialog.getByText('Ask your administrator for a key.').waitFor();
    expect(await dialog.getByRole('heading', { name: 'Your own key' }).count()).toBe(0);
  });

  it.each(viewports)('has no accessibility violations or overflow: %s', async (name, options) => {
    const { viewport, colorScheme } = options;
    const { page, dialog } = await openDialog(`looks-${name}`, { ...(colorScheme && { colorScheme }) });
    if (viewport != null) await page.setViewportSize(viewport);
    await dialog.getByLabel('Name (optional)').fill('Notebook');
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    await dialog.getByRole('listitem').first().waitFor();
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  });
});
