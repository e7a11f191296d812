import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { TestService } from '#test/start-service.ts';
import { ownBucket, quickApp } from '../applications/support.ts';
import { TestFiles } from '../retrieval/rig.ts';
import { openEditor, store } from './builder-support.ts';
import { startBrowser, startPageService, type TestBrowser } from './support.ts';
import { findViolations, viewports } from './violations.ts';

const longText = Array.from({ length: 40 }, (_, nth) => `# Part ${nth}\n\nabc ${nth}`).join('\n\n');

vi.setConfig({ testTimeout: 60_000 });

let browser: TestBrowser;
let testFiles: TestFiles;
let service: TestService;

beforeAll(async () => {
  browser = await startBrowser();
});

beforeEach(async () => {
  testFiles = await TestFiles.open();
  service = await startPageService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } }, testFiles.options);
});

afterEach(async () => {
  testFiles.blobs.release();
  await service.close();
  await testFiles[Symbol.asyncDispose]();
});

it.each(viewports)('shows the reading progress of an application’s documents, %s', async (_look, options) => {
  testFiles.blobs.hold();
  const references = [
    await testFiles.put('Größe und Maß 猫.md', longText, ownBucket),
    await testFiles.put('broken.pdf', '%PDF-1.7 oh', ownBucket),
  ];
  await store(service, 'app', quickApp({ document_relative_url: references }));
  const { page, issues } = await openEditor('app', { browser, service, options });
  const items = page.locator('.document');
  await items.nth(0).getByText('is being read').waitFor();
  await items.nth(1).getByText('waiting to be read').waitFor();
  testFiles.blobs.release();
  await items.nth(1).getByText('cannot be read · The file is damaged: it cannot be read as PDF.').waitFor();
  await items.nth(0).getByText('ready').waitFor();
  await page.getByText('All documents were read.').waitFor({ state: 'attached' });
  expect(await items.locator('.upload-name').allTextContents()).toEqual(['Größe und Maß 猫.md', 'broken.pdf']);
  expect(await findViolations(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('continues to show the reading progress after a failed request', async () => {
  testFiles.blobs.hold();
  const reference = await testFiles.put('long.md', longText, ownBucket);
  await store(service, 'app', quickApp({ document_relative_url: [reference] }));
  const { page } = await openEditor('app', { browser, service });
  const item = page.locator('.document');
  await item.getByText('is being read').waitFor();
  const failure = page.waitForEvent('requestfailed');
  await page.route(/\/documents$/, (route) => route.abort(), { times: 1 });
  await failure;
  testFiles.blobs.release();
  await item.getByText('ready').waitFor();
});

it('tests a search of the documents before they are saved', async () => {
  const reference = await testFiles.put('rules.md', '# Opening\n\nThe library opens at nine.', ownBucket);
  await store(service, 'app', quickApp({ document_relative_url: [reference] }));
  const { page } = await openEditor('app', { browser, service });
  await page.getByText('Test Documents').click();
  await page.getByLabel('Question').fill('When does the library open?');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/It answered after/).waitFor();
  await page.locator('.tool-test').getByText('The library opens at nine.').waitFor();
  expect(await findViolations(page)).toEqual([]);
});
