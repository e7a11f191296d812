import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '#test/start-service.ts';
import { report, startRuntimeAdmin } from '../admin/support.ts';
import { getApplicationPath, getProjectBucket, quickApp, save } from '../applications/support.ts';
import { startBrowser, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

const demo = { upstreams: [{ protocol: 'demo' }] };
const keys = {
  'admin-key': { project: 'office', role: 'admin' },
  'auditor-key': { project: 'audit', role: 'auditor' },
  'user-key': { project: 'user' },
};

let service: TestService;
let browser: TestBrowser;

beforeAll(async () => {
  browser = await startBrowser();
  service = await startRuntimeAdmin({ models: { filed: { ...demo, displayName: 'From the file' } }, keys }, () => report);
  await send('PUT', 'roles/default', { limits: { '*': { day: 1000 } } });
  await send('PUT', 'roles/staff', {});
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function send(method: string, path: string, body?: object): Promise<Record<string, never>> {
  const { text } = await service.sendRequest({
    ...{ method, path: `/v1/admin/${path}`, headers: { 'api-key': 'admin-key', 'content-type': 'application/json' } },
    ...(body && { body }),
  });
  return text === '' ? {} : JSON.parse(text);
}

async function open(
  path: string,
  { key = 'admin-key', ...options }: BrowserContextOptions & { key?: string } = {},
): Promise<TestPage> {
  const opened = await browser.open(`${service.url}/#key=${key}`, options);
  await opened.page.locator('#message').waitFor();
  await goTo(opened.page, path);
  return opened;
}

async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`location.hash = '#/administration${path}'`);
  await page.locator('.administration > .sheet-section:not([aria-busy=true])').waitFor();
}

describe('the administration page', () => {
  it('adds a model, shows errors at their fields, tests it, merges concurrent changes, and deletes it', async () => {
    const { page, issues } = await open('/models');
    await page.getByRole('link', { name: 'Add a model' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Fast');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('This field is required.').waitFor();
    const idField = page.getByRole('textbox', { name: 'ID · required' });
    expect(await idField.evaluate((field) => field.matches(':focus'))).toBe(true);
    await idField.fill('fast');
    expect(await page.getByText('This field is required.').count()).toBe(0);
    await page.getByRole('button', { name: 'Save' }).click();
    const address = page.getByLabel('Address', { exact: true });
    await page.getByText('Not saved. One setting needs a correction.').waitFor();
    expect(await address.evaluate((field: { ariaInvalid: string | null }) => field.ariaInvalid)).toBe('true');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Fast');
    await page.getByLabel('Provider').first().selectOption('demo');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'fast' }).waitFor();
    await page.getByRole('button', { name: 'Test fast' }).click();
    await page.getByText(/^Answered in/).waitFor();

    await send('PUT', 'models/fast', { ...demo, displayName: 'Fast', description: 'Changed by a script' });
    await page.getByLabel('Name', { exact: true }).fill('Faster');
    await page.getByRole('button', { name: 'Save' }).click();
    const note = page.locator('.conflict-note');
    expect(await note.innerText()).toMatch(/key:office changed it .*Description\s+not set → Changed by a script/s);
    expect(await findViolations(page)).toEqual([]);
    await note.getByRole('button', { name: 'Add these changes to mine' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Everything is saved.').waitFor();
    expect(await send('GET', 'models/fast')).toMatchObject({ displayName: 'Faster', description: 'Changed by a script' });

    await send('PUT', 'applications/caller', { endpoint: 'https://app.example/chat', dependencies: ['fast'] });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Delete “fast”? Chats and programs that use it get errors immediately.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Other entries refer to “fast”: applications.caller').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete anyway' }).click();
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    expect(await send('GET', 'models/fast')).toMatchObject({ error: { code: 'entry_not_found' } });
    await send('DELETE', 'applications/caller');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('keeps the focus while the user corrects one of several errors', async () => {
    const { page } = await open('/models');
    await page.getByRole('link', { name: 'Add a model' }).click();
    await page.getByRole('textbox', { name: 'ID · required' }).fill('twice');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Not saved. One setting needs a correction.').waitFor();
    await page.getByRole('button', { name: 'Add a connection' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Not saved. 2 settings need a correction.').waitFor();
    const [first, second] = [
      page.getByLabel('Address', { exact: true }).first(),
      page.getByLabel('Address', { exact: true }).last(),
    ];
    expect(await first.evaluate((field) => field.matches(':focus'))).toBe(true);
    await page.keyboard.type('https://api.example/v1');
    expect([await first.inputValue(), await second.inputValue()]).toEqual(['https://api.example/v1', '']);
  });

  it('keeps unsaved input until the user discards it, and moves entries of files to run time', async () => {
    const { page } = await open('/roles/staff');
    await page.getByLabel('Per month', { exact: true }).fill('5');
    await page.evaluate("location.hash = '#/usage'");
    await page.getByText('You have unsaved changes. Leave without saving?').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByLabel('Per month', { exact: true }).inputValue()).toBe('5');
    await page.getByLabel('Per month', { exact: true }).press('Enter');
    await page.getByText('Everything is saved.').waitFor();
    await goTo(page, '/models/filed');
    expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Copy to the database' }).click();
    await page.getByText(/^The entry is copied/).waitFor();
  });

  it('reports a key that an object already has, and keeps its value', async () => {
    const { page } = await open('/projects');
    await page.getByRole('link', { name: 'Add a team' }).click();
    await page.locator('summary').getByText('More settings').click();
    const addTag = async (name: string) => {
      await page.getByRole('textbox', { name: 'Tag', exact: true }).fill(name);
      await page.getByRole('button', { name: 'Add to Tags' }).click();
    };
    await addTag('site');
    await page.getByRole('textbox', { name: 'site' }).fill('Oslo');
    await addTag('site');
    await page.getByText('“site” already exists. Enter another name.').waitFor();
    const field = page.getByRole('textbox', { name: 'Tag', exact: true });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.evaluate('document.activeElement.value')).toBe('site');
    expect(await page.getByRole('textbox', { name: 'site' }).inputValue()).toBe('Oslo');
    await field.fill('sites');
    expect(await page.getByText('already exists').count()).toBe(0);
  });

  it('names the effect of a deletion by kind, and an ID that is taken or changed', async () => {
    const created: Record<string, unknown> = await send('POST', 'keys', { name: 'Night job', project: 'office' });
    const id = String(created.id);
    const { page } = await open(`/keys/${id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Delete “Night job”? People and programs that use it lose access immediately.').waitFor();
    await page.keyboard.press('Escape');
    await send('PUT', `keys/${id}`, { name: 'Night jobs', project: 'office' });
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByRole('alert').getByText('This was changed elsewhere in the meantime.').waitFor();
    await send('DELETE', `keys/${id}`);
    await goTo(page, '/roles?new');
    await page.getByRole('textbox', { name: 'ID · required' }).fill('staff');
    await page.getByLabel('Per month', { exact: true }).fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('There is already an entry with this ID.').waitFor();
  });

  it('lists the applications that users share, with their owners', async () => {
    const path = getApplicationPath('guide', getProjectBucket('user'));
    const body = quickApp({ model: 'filed' }, { displayName: 'Guide', userRoles: ['staff'] });
    expect((await save(service, path, body, { 'api-key': 'user-key' })).status).toBe(201);
    const { page } = await open('/shared');
    const row = page.getByRole('row', { name: /Guide/ });
    expect(await row.innerText()).toMatch(/Guide\s*applications\/.*\s*key:user\s*staff/);
  });

  it('creates a key that is shown once, replaces it, and blocks it', async () => {
    const { page } = await open('/keys?new');
    await page.getByLabel('Name', { exact: true }).fill('Build server');
    await page.getByLabel('Team').fill('office');
    await page.getByRole('alert').getByText('The team “office” already has the key').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel('Team').fill('team');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByLabel('Works until').fill('2030-01-01T10:00');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'The new key' });
    const secret = await dialog.getByRole('textbox').inputValue();
    expect(secret).toMatch(/^parley_k_/);
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText('Not used yet').waitFor();
    expect(await page.getByText('The old key still works for').count()).toBe(0);
    await page.getByRole('button', { name: 'Replace the key' }).click();
    await page.getByRole('dialog', { name: 'Replace this key?' }).getByRole('button', { name: 'Replace the key' }).click();
    expect(await dialog.getByRole('textbox').inputValue()).not.toBe(secret);
    // The replacement changed the ETag of the key, and blocking works although it cannot be read again.
    await page.route('**/v1/admin/keys/*', (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()));
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByRole('button', { name: 'Unblock' }).waitFor();
    await page.unroute('**/v1/admin/keys/*');
    await goTo(page, '/keys');
    const row = page.getByRole('row', { name: /Build server/ });
    expect(await row.innerText()).toMatch(/team\s+parley_k_[\w-]+…\s+never\s+1 Jan 2030.*Blocked/s);
    expect(await page.content()).not.toContain(secret);
  });

  it('lists the keys of users, and blocks and unblocks their user', async () => {
    const { page } = await open('/roles');
    const key = { id: 'k1', source: 'user', user: 'ada', project: 'corporate', name: 'Notebook', prefix: 'parley_u_Ab3dE' };
    const data = [{ ...key, createdAt: 1, lastUsedAt: null, expiresAt: Date.now() + 3_600_000 }];
    await page.route('**/v1/admin/keys?*', (route) => route.fulfill({ json: { object: 'list', data, nextToken: null } }));
    await goTo(page, '/keys');
    await page.getByRole('radio', { name: 'Users' }).check({ force: true });
    const row = page.getByRole('row', { name: /ada/ });
    expect(await row.first().innerText()).toMatch(/ada\s+Notebook\s+parley_u_Ab3dE…\s+never/);
    await row.getByRole('button', { name: 'Block the user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Block the user' }).click();
    await page.getByRole('heading', { name: 'Blocked users' }).waitFor();
    expect(await send('GET', 'blocked-users')).toMatchObject({ data: [{ user: 'ada', blockedBy: 'key:office' }] });
    await page.getByRole('button', { name: 'Unblock ada' }).click();
    await page.getByRole('heading', { name: 'Blocked users' }).waitFor({ state: 'detached' });
    expect(await send('GET', 'blocked-users')).toMatchObject({ data: [] });
  });

  it('changes limits in a table, and undoes a change', async () => {
    const { page } = await open('/limits');
    const cell = page.getByLabel('staff: From the file');
    expect(await page.getByRole('rowheader').last().innerText()).toMatch(/^From the file\s+filed$/);
    expect(await cell.getAttribute('placeholder')).toBe('1,000');
    await cell.fill('1.5');
    await page.getByText('Enter a whole number, or leave the limit empty.').waitFor();
    await cell.fill('2,000');
    await cell.press('Enter');
    await page.getByText('Everything is saved.').waitFor();
    expect(await send('GET', 'roles/staff')).toMatchObject({ limits: { filed: { day: 2000 } } });
    await goTo(page, '/changes');
    const latest = page.locator('.change-list > li').first();
    expect(await latest.innerText()).toMatch(
      /Saved · key:office.*Changed: Roles › staff\s+Limits › filed › Tokens a day\s+not set → 2000/s,
    );
    await latest.getByRole('button', { name: /^Undo/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await page.locator('.change-list > li', { hasText: 'Undone' }).first().waitFor();
    expect(await send('GET', 'roles/staff')).not.toHaveProperty('limits.filed');
  });

  it('lists the configured alerts with their state, and explains how to add one', async () => {
    const { page } = await open('/alerts');
    await page.getByText('There are no alerts yet.').waitFor();
    await page.getByText('Alerts are in the configuration file.').waitFor();
    const alert = { path: 'alerts[0]', of: 'project:search', window: 'cost.month', at: [0.8, 1], server: 'https://a.example' };
    const state = { pending: 0, nextAttemptAt: null, lastSentAt: Date.UTC(2026, 0, 2, 12), lastFailure: null };
    const failing = { pending: 2, nextAttemptAt: Date.UTC(2026, 0, 5, 12), lastFailure: { at: null, error: 'no response' } };
    const data = [
      { ...alert, ...state },
      { ...alert, ...state, path: 'alerts[1]', of: '*', window: 'requests.hour:gpt', at: [0.005], lastSentAt: null, ...failing },
    ];
    await page.route('**/v1/admin/configured-alerts?*', (route) =>
      route.fulfill({ json: { object: 'list', data, nextToken: null } }),
    );
    await goTo(page, '/models');
    await goTo(page, '/alerts');
    const rows = page.locator('tbody tr');
    expect(await rows.nth(0).innerText()).toMatch(
      /Team search\s+Spending limit in USD: Per month\s+80%, 100%\s+https:\/\/a\.example\s+Last sent 2 Jan 2026/,
    );
    expect(await rows.nth(1).innerText()).toMatch(
      /Each user\s+Requests an hour · gpt\s+0\.5%.*No message sent in the last 7 days\s+Last failure: no response\s+Next attempt 5 Jan 2026.*, 2 messages waiting/s,
    );
  });

  it('draws the first of many models, and searches all', async () => {
    const models = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`many-${index}`, demo]));
    await send('POST', 'apply', { models });
    const { page } = await open('/models');
    await page.getByText('1,001 entries').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('many-999');
    await page.getByText('1 of 1,001 entries').waitFor();
    expect(await page.locator('tbody th').allInnerTexts()).toEqual(['many-999']);
    await send('POST', 'apply?prune=true', { models: {} });
  });

  it('shows auditors all settings without a way to change them, and is hidden from users', async () => {
    const { page, issues } = await open('/roles/staff', { key: 'auditor-key' });
    await page.getByText('You can see everything here, but not change it.').waitFor();
    expect(await page.getByLabel('Per month', { exact: true }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Usage of everyone' }).getAttribute('href')).toBe('#/usage?scope=all');
    await goTo(page, '/limits');
    expect(await page.locator('.limits-table input').count()).toBe(0);
    await goTo(page, '/models');
    expect(await page.getByRole('link', { name: 'Add a model' }).count()).toBe(0);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
    const other = await browser.open(`${service.url}/#key=user-key`);
    await other.page.locator('#message').waitFor();
    expect(await other.page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
  });

  it.each(viewports)('has no accessibility violations and fits the %s window', async (_, options) => {
    const { page } = await open('', options);
    const found: unknown[] = [];
    for (const path of [
      '',
      '/models',
      '/models/filed',
      '/models?new',
      '/roles/staff',
      '/keys',
      '/limits',
      '/alerts',
      '/shared',
      '/changes',
    ]) {
      await goTo(page, path);
      found.push(...(await findViolations(page)));
      expect([path, await measureOverflow(page)]).toEqual([path, 0]);
    }
    expect(found).toEqual([]);
  });
});
