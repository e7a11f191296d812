import { readFile } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestProcess } from '#test/start-process.ts';
import { callerKey, startService } from '#test/start-service.ts';
import { startBrowser, startPageProcess, type TestBrowser, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

const maxLookMs = 60_000;
const headers = { 'api-key': callerKey, 'content-type': 'text/plain' };
const configuration = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };
const hostile = '<img src=x onerror=alert(1)> & "q" #?%41.txt';

let service: TestProcess;
let browser: TestBrowser;
let bucket: string;

beforeAll(async () => {
  browser = await startBrowser();
  service = await startPageProcess(configuration);
  bucket = ((await service.sendRequest({ method: 'GET', path: '/v1/bucket', headers })).json as { bucket: string }).bucket;
});

beforeEach(async () => {
  for (const path of ['notes.txt', 'trips/oslo/plan.txt', 'trips/oslo/map.txt', `trips/${encodeURIComponent(hostile)}`])
    await service.sendRequest({ method: 'PUT', path: `/v1/files/${bucket}/${path}`, headers, body: `The content of ${path}` });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function open(folder = '', options?: BrowserContextOptions, at = service.url): Promise<TestPage> {
  const opened = await browser.open(`${at}/#key=${callerKey}`, options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate(`location.hash = '#/files${folder}'`);
  await opened.page.locator('.sheet:not([aria-busy=true]) h1').waitFor();
  return opened;
}

const focusedText = 'document.activeElement.textContent';
const readNames = (page: Page) => page.locator('.file-name').allInnerTexts();

function createFile(name: string, text: string) {
  return { name, mimeType: 'text/plain', buffer: Buffer.from(text) };
}

async function readContent(path: string): Promise<string> {
  return (await service.sendRequest({ method: 'GET', path: `/v1/files/${bucket}/${path}`, headers })).text;
}

describe('the palette', () => {
  it.each(viewports)('finds a stored file by a part of its name and opens its folder at the file: %s', async (_name, options) => {
    const { page, issues } = await browser.open(`${service.url}/#key=${callerKey}`, options);
    await page.locator('#message').waitFor();
    const lists: string[] = [];
    page.on('request', (request) => request.url().includes('/v1/metadata/files/') && lists.push(request.url()));
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    expect(lists).toEqual([]);
    await page.keyboard.type('img x q');
    const option = page.getByRole('option', { name: `trips/${hostile} File` });
    await option.waitFor();
    await page.getByRole('combobox').fill('oslo map');
    await page.getByRole('option', { name: 'trips/oslo/map.txt File', selected: true }).waitFor();
    await page.getByRole('combobox').fill('img src');
    await option.waitFor();
    expect(lists.length).toBe(1);
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await page.keyboard.press('Enter');
    const row = page.locator('.file-list [aria-current=true]', { hasText: hostile });
    await row.waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe(`Download ${hostile}`);
    expect(await readNames(page)).toEqual([hostile, 'oslo']);
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });
});

describe('the paperclip of the message box', () => {
  it.each(viewports)('attaches stored files: %s', async (_name, options) => {
    const { page, issues, sendMessage } = await browser.open(`${service.url}/#key=${callerKey}`, options);
    await page.locator('.composer summary').first().click();
    await page.getByRole('button', { name: 'Upload from this device' }).waitFor();
    expect(await measureOverflow(page)).toBe(0);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(/v1\/metadata\/files/, async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('button', { name: 'From your files' }).click();
    const dialog = page.getByRole('dialog', { name: 'Attach from your files' });
    await dialog.getByText('Loading').waitFor();
    const boxWhileLoading = await dialog.boundingBox();
    release();
    await dialog.getByText('notes.txt').waitFor();
    expect(await dialog.boundingBox()).toEqual(boxWhileLoading);
    const attach = dialog.getByRole('button', { name: 'Attach', description: 'Choose at least one file.' });
    expect(await attach.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByRole('searchbox').fill('Oslo/plan');
    expect(await dialog.getByRole('listitem').count()).toBe(1);
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await dialog.getByRole('checkbox', { name: 'trips/oslo/plan.txt' }).check();
    await attach.waitFor({ state: 'detached' });
    // A second click, while the file is read, must not attach it again.
    await dialog.getByRole('button', { name: 'Attach', disabled: false }).dblclick();
    await page.locator('.upload', { hasText: 'plan.txt' }).first().waitFor();
    expect(await page.locator('.upload', { hasText: 'plan.txt' }).count()).toBe(1);
    const [request] = await Promise.all([page.waitForRequest(/v1\/chat-runs\//), sendMessage('Read this')]);
    expect(request.postDataJSON().messages).toMatchObject([
      {
        custom_content: {
          attachments: [{ title: 'plan.txt', data: await readContent('trips/oslo/plan.txt'), type: 'text/plain' }],
        },
      },
    ]);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });
});

describe('the files page', () => {
  it('shows the files of each folder and navigates into folders and back', async () => {
    const { page, issues } = await open();
    expect(await readNames(page)).toEqual(['notes.txt', 'trips']);
    await page.getByRole('link', { name: 'Open the folder trips' }).click();
    await page.getByText(hostile).waitFor();
    expect(await readNames(page)).toEqual([hostile, 'oslo']);
    await page.getByRole('link', { name: 'Open the folder oslo' }).click();
    await page.getByText('plan.txt').waitFor();
    await page.reload();
    await page.getByText('plan.txt').waitFor();
    expect(await readNames(page)).toEqual(['map.txt', 'plan.txt']);
    await page.getByRole('navigation', { name: 'Folder' }).getByRole('link', { name: 'trips' }).click();
    await page.getByText(hostile).waitFor();
    await page.getByRole('link', { name: 'All files' }).click();
    await page.getByText('notes.txt').waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('uploads chosen files to the open folder and asks before it replaces a file', async () => {
    const { page } = await open('/trips/oslo');
    const input = page.locator('.files input[type=file]');
    await input.setInputFiles([createFile('new one.txt', 'new'), createFile('plan.txt', 'another plan')]);
    await page.getByRole('dialog').getByText('This folder already contains “plan.txt”.').waitFor();
    await page.getByText('new one.txt').first().waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.file-uploads').waitFor({ state: 'detached' });
    expect(await readContent('trips/oslo/plan.txt')).toBe('The content of trips/oslo/plan.txt');
    expect(await readContent('trips/oslo/new%20one.txt')).toBe('new');
    await input.setInputFiles(createFile('plan.txt', 'another plan'));
    await page.getByRole('button', { name: 'Replace' }).click();
    await page.getByRole('status').getByText('plan.txt is uploaded.').waitFor();
    expect(await readContent('trips/oslo/plan.txt')).toBe('another plan');
  });

  it('uploads dropped files and shows the progress', async () => {
    const { page } = await open();
    const gate = Promise.withResolvers<void>();
    await page.route('**/v1/files/**', async (route) => {
      await gate.promise;
      await route.continue();
    });
    const data = await page.evaluateHandle(`{
      const data = new DataTransfer();
      data.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }));
      data;
    }`);
    await page.dispatchEvent('.files', 'dragover', { dataTransfer: data });
    await page.getByText('Drop files here to upload them').waitFor();
    await page.dispatchEvent('.files', 'drop', { dataTransfer: data });
    await page.getByRole('progressbar', { name: /^dropped\.txt, \d+% uploaded$/ }).waitFor();
    gate.resolve();
    await page.getByRole('row', { name: /dropped\.txt/ }).waitFor();
    expect(await readContent('dropped.txt')).toBe('dropped');
    await service.sendRequest({ method: 'DELETE', path: `/v1/files/${bucket}/dropped.txt`, headers });
  });

  it('cancels an upload and shows the reason of a failed upload', async () => {
    const { page } = await open();
    const input = page.locator('.files input[type=file]');
    await page.route('**/v1/files/**', (route) =>
      route.request().url().endsWith('large.txt')
        ? route.fulfill({ status: 413, json: { error: { code: 'payload_too_large', message: 'The bucket is full.' } } })
        : new Promise(() => undefined),
    );
    await input.setInputFiles(createFile('slow.txt', 'slow'));
    await page.getByRole('button', { name: 'Stop uploading slow.txt' }).click();
    await page.locator('.file-uploads').waitFor({ state: 'detached' });
    await input.setInputFiles(createFile('large.txt', 'large'));
    await page.getByText('large.txt could not be uploaded: The bucket is full.').waitFor();
    await page.getByRole('button', { name: 'Remove large.txt from this list' }).click();
    await page.locator('.file-uploads').waitFor({ state: 'detached' });
    expect(await readNames(page)).toEqual(['notes.txt', 'trips']);
  });

  it('downloads a file with special characters in its name and copies its reference', async () => {
    const { page } = await open('/trips', { permissions: ['clipboard-read', 'clipboard-write'] });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Download ${hostile}` }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toContain('The content of trips/');
    await page.getByRole('button', { name: `Copy the path of ${hostile} for programs` }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const reference = await page.evaluate('navigator.clipboard.readText()');
    expect(reference).toBe(`files/${bucket}/trips/${encodeURIComponent(hostile)}`);
  });

  it('deletes a file with the keyboard after a confirmation only', async () => {
    const { page } = await open();
    const remove = page.getByRole('button', { name: 'Delete notes.txt' });
    await remove.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Delete “notes.txt” permanently?').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await readContent('notes.txt')).toContain('The content');
    await remove.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('notes.txt is deleted.').waitFor();
    await remove.waitFor({ state: 'detached' });
    expect(await page.evaluate(focusedText)).toBe('Files');
    expect((await service.sendRequest({ method: 'GET', path: `/v1/files/${bucket}/notes.txt`, headers })).status).toBe(404);
  });

  it('creates a folder with the keyboard and rejects a name with a slash', async () => {
    const { page } = await open('/trips');
    await page.getByRole('button', { name: 'New folder' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('a/b');
    await page.keyboard.press('Enter');
    await page.getByText('A folder name cannot contain a slash').waitFor();
    await page.getByLabel('Folder name').fill('Bergen 2027');
    await page.keyboard.press('Enter');
    await page.getByText('This folder is empty.').waitFor();
    expect(await page.evaluate(focusedText)).toBe('Files');
    await page.locator('.files input[type=file]').setInputFiles(createFile('x.txt', 'x'));
    await page.getByRole('row', { name: /x\.txt/ }).waitFor();
    expect(await readContent('trips/Bergen%202027/x.txt')).toBe('x');
    await service.sendRequest({ method: 'DELETE', path: `/v1/files/${bucket}/trips/Bergen%202027/x.txt`, headers });
  });

  it(
    'shows the rest of a long folder on demand, and to focus a file of the address',
    async () => {
      const many = Array.from({ length: 105 }, (_, index) => `many/${String(index).padStart(3, '0')}.txt`);
      for (const path of many)
        await service.sendRequest({ method: 'PUT', path: `/v1/files/${bucket}/${path}`, headers, body: 'x' });
      const { page } = await open('/many');
      await page.getByText('099.txt').waitFor();
      expect(await page.locator('.file-name').count()).toBe(100);
      await page.getByRole('button', { name: 'Show more' }).click();
      await page.getByText('104.txt').waitFor();
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
      const { page: withFile } = await open('/many?file=103.txt');
      await withFile.locator('.file-list [aria-current=true]', { hasText: '103.txt' }).waitFor();
      for (const path of many) await service.sendRequest({ method: 'DELETE', path: `/v1/files/${bucket}/${path}`, headers });
    },
    maxLookMs,
  );

  it('loads the list again on demand, and when the network is back', async () => {
    const { page } = await open();
    const lists = /v1\/metadata\/files/;
    await page.route(lists, (route) => route.abort());
    await page.evaluate("location.hash = '#/files/trips'");
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
    await page.unroute(lists);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('oslo').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().setOffline(true);
    await page.evaluate("location.hash = '#/files/trips/oslo'");
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
    await page.context().setOffline(false);
    await page.getByText('plan.txt').waitFor();
  });

  it('shows a notice if the service does not store files', async () => {
    await using bare = await startService(configuration);
    const { page } = await open('', {}, bare.url);
    await page.getByText('This service does not store files.').waitFor();
    expect(await page.getByRole('button', { name: 'Upload files' }).count()).toBe(0);
  });

  it('is translated to German', async () => {
    const { page } = await open('', { locale: 'de-DE' });
    await page.getByRole('button', { name: 'Dateien hochladen' }).waitFor();
  });
});

it.each(viewports)(
  'has no accessibility violations or overflow on the files page: %s',
  async (_look, options) => {
    const { page } = await open('/trips', options);
    await page.getByText(hostile).waitFor();
    await page.getByRole('button', { name: 'New folder' }).click();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('button', { name: `Delete ${hostile}` }).click();
    await page.getByRole('dialog').waitFor();
    expect(await findViolations(page)).toEqual([]);
  },
  maxLookMs,
);
