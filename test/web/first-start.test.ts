import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestProcess } from '#test/start-process.ts';
import { startBrowser, startPageProcess, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow } from './violations.ts';

const pattern = /"firstStartToken":"([^"]+)"/;
let browser: TestBrowser;
let service: TestProcess;

beforeAll(async () => {
  browser = await startBrowser();
  service = await startPageProcess({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

it('exchanges the one-time token for a key, shows the key once, and opens the administration', async () => {
  await service.untilOutput(pattern);
  const token = pattern.exec(service.output.stdout)?.[1] ?? '';
  const { page, issues } = await browser.open(service.url, {
    viewport: { width: 390, height: 800 },
    permissions: ['clipboard-write'],
  });
  const field = page.getByLabel('One-time token');
  await field.fill('wrong');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByRole('alert').getByText('The token is wrong or was used.').waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);

  await field.fill(` ${token} `);
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('Save this key now. It is shown only once.').waitFor();
  const key = await page.getByRole('textbox', { name: 'Key of the administrator' }).inputValue();
  await page.getByRole('button', { name: 'Copy the key' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  await page.getByRole('button', { name: 'Continue to the administration' }).click();
  await page.getByRole('heading', { name: 'Administration', exact: true }).waitFor();
  await page.locator('.start-steps a').first().waitFor();
  const state = await service.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': key } });
  expect(state.status).toBe(200);
  expect(issues.externalRequests).toEqual([]);

  const other = await browser.open(service.url);
  await other.page.getByLabel('Key', { exact: true }).waitFor();
  expect(await other.page.getByLabel('One-time token').count()).toBe(0);
});
