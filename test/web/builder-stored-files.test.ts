import type { BrowserContextOptions, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { startBrowser, startPageProcess, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="red"/></svg>';

let service: TestProcess;
let browser: TestBrowser;

beforeAll(async () => {
  browser = await startBrowser();
  service = await startPageProcess({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
  const headers = { 'api-key': callerKey };
  const bucket = ((await service.sendRequest({ method: 'GET', path: '/v1/bucket', headers })).json as { bucket: string }).bucket;
  const files = [
    ['rules.md', 'text/markdown', '# Rules'],
    ['trips/oslo.txt', 'text/plain', 'Oslo'],
    ['logo.svg', 'image/svg+xml', drawing],
    ['broken.png', 'image/png', 'Not a picture'],
  ] as const;
  for (const [path, type, body] of files)
    await service.sendRequest({
      method: 'PUT',
      path: `/v1/files/${bucket}/${path}`,
      headers: { ...headers, 'content-type': type },
      body,
    });
});

afterAll(() => service[Symbol.asyncDispose]());

async function openNew(options?: BrowserContextOptions): Promise<TestPage> {
  const opened = await browser.open(`${service.url}/#key=${callerKey}`, options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate("location.hash = '#/build/new'");
  await opened.page.locator('.builder-bar').waitFor();
  return opened;
}

const readItems = async (dialog: Locator): Promise<readonly string[]> =>
  (await dialog.getByRole('listitem').allTextContents()).toSorted();

it.each(viewports)('adds stored files to the documents of an application: %s', async (_look, options) => {
  const { page, issues } = await openNew(options);
  await page.locator('summary', { hasText: /^Documents/ }).click();
  const documents = page.getByRole('group', { name: 'Documents' });
  await documents.getByRole('button', { name: 'From your files' }).click();
  const dialog = page.getByRole('dialog', { name: 'Attach from your files' });
  await dialog.getByText('trips/oslo.txt').waitFor();
  expect(await readItems(dialog)).toEqual([
    'broken.pngcannot be searched',
    'logo.svg110 bytes',
    'rules.md7 bytes',
    'trips/oslo.txt4 bytes',
  ]);
  expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  await dialog.getByRole('checkbox', { name: 'rules.md' }).check();
  await dialog.getByRole('checkbox', { name: 'trips/oslo.txt' }).check();
  await dialog.getByRole('button', { name: 'Attach' }).click();
  await page.getByText('2 documents are added.').waitFor({ state: 'attached' });
  expect((await documents.locator('.upload-name').allTextContents()).toSorted()).toEqual(['oslo.txt', 'rules.md']);

  await documents.getByRole('button', { name: 'From your files' }).click();
  await dialog.getByText('already added').first().waitFor();
  expect(await dialog.getByRole('checkbox', { disabled: true }).count()).toBe(3);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it.each(viewports)('uses a stored file as the picture of an application: %s', async (_look, options) => {
  const { page, issues } = await openNew(options);
  const group = page.getByRole('group', { name: 'Picture' });
  await group.getByRole('button', { name: 'From your files' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose from your files' });
  await dialog.getByText('logo.svg').waitFor();
  expect(await dialog.getByRole('listitem').last().textContent()).toContain('not a picture');
  expect(await dialog.getByRole('radio', { disabled: true }).count()).toBe(2);
  await dialog.getByRole('button', { name: 'Choose', description: 'Choose a file.' }).waitFor();
  expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  await dialog.getByRole('radio', { name: 'broken.png' }).check();
  await dialog.getByRole('button', { name: 'Choose' }).click();
  await group.getByRole('alert').getByText('This file is not a picture that the browser can read.').waitFor();

  await group.getByRole('button', { name: 'From your files' }).click();
  await dialog.getByRole('radio', { name: 'logo.svg' }).check();
  await dialog.getByRole('button', { name: 'Choose' }).click();
  await group.locator('img[src^="data:image/"]').waitFor();
  expect(await group.getByText('This file is not a picture').count()).toBe(0);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('selects stored files with the keyboard only, and shows why a file cannot be read', async () => {
  const { page } = await openNew();
  const button = page.getByRole('group', { name: 'Picture' }).getByRole('button', { name: 'From your files' });
  await button.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('logo.svg').waitFor();
  await page.keyboard.type('logo');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  expect(await dialog.getByRole('radio', { name: 'logo.svg' }).isChecked()).toBe(true);
  await page.route('**/v1/files/**', (route) => route.abort());
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText(/./).waitFor();
  await page.unroute('**/v1/files/**');
  await page.keyboard.press('Enter');
  await page.locator('img.avatar[src^="data:image/"]').first().waitFor();
  expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
});
