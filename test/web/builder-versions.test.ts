import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import type { TestService } from '#test/start-service.ts';
import { ownBucket, quickApp, show } from '../applications/support.ts';
import { openEditor, store } from './builder-support.ts';
import { startBrowser, startPageService, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

let browser: TestBrowser;
let service: TestService;
let database: ResponseDatabase;

const instructions = ['You help in a shop.', 'Be brief.', 'One.', 'Two.', 'Three.', 'Never invent prices.'];

beforeAll(async () => {
  browser = await startBrowser();
  database = await openResponses('SQLite');
  const models = { demo: { displayName: 'Demo', upstreams: [{ protocol: 'demo' }] } };
  service = await startPageService({ models }, database.evaluating());
});

afterAll(async () => {
  await service.close();
  await database[Symbol.asyncDispose]();
});

/** Stores three versions. The first has other instructions and starters, the second another name. */
async function storeThreeVersions(name: string): Promise<void> {
  await store(service, name, quickApp({ instructions: instructions.join('\n'), starters: ['Hi'] }, { displayName: 'Shop' }));
  const second = [...instructions.slice(0, 5), 'Say <b>prices</b>.'].join('\n');
  await store(service, name, quickApp({ instructions: second, temperature: 1 }, { displayName: 'Shop' }));
  await store(service, name, quickApp({ instructions: second, temperature: 1 }, { displayName: 'Store' }));
}

async function readApplication(name: string): Promise<unknown> {
  return (await show(service, `/v1/applications/${ownBucket}/${name}`)).json;
}

it('lists and compares earlier versions and restores one after a confirmation', async () => {
  await storeThreeVersions('shop');
  const { page, issues } = await openEditor('shop', { browser, service });
  await page.locator('summary', { hasText: /^Versions$/ }).click();
  const items = page.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await items.nth(2).waitFor();
  expect(await items.locator('.version-name > :last-child').allTextContents()).toEqual([
    'Current, used in all chats',
    'version 2',
    'version 1',
  ]);
  expect(await items.first().getByRole('button').count()).toBe(0);

  await items
    .nth(2)
    .getByRole('button', { name: /^Compare/ })
    .click();
  const changes = page.getByRole('list', { name: 'Changed since then' });
  await changes.waitFor();
  expect(await changes.locator('code').allTextContents()).toEqual(['temperature', 'instructions', 'starters', 'displayName']);
  const lines = changes.locator('li', { hasText: 'instructions' }).locator('pre > *');
  expect((await lines.allTextContents()).map((line) => line.trim())).toEqual([
    ...['3 unchanged lines', 'Two.', 'Three.', 'Never invent prices.', 'Say <b>prices</b>.'],
  ]);
  expect(await lines.evaluateAll((all: { tagName: string }[]) => all.map(({ tagName }) => tagName))).toEqual([
    ...['SPAN', 'SPAN', 'SPAN', 'DEL', 'INS'],
  ]);

  await page.getByLabel('Description').first().fill('Not saved.');
  await items
    .nth(2)
    .getByRole('button', { name: /^Restore/ })
    .click();
  await page.getByRole('dialog').getByText('Restore the version from').waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByLabel('Description').first().inputValue()).toBe('Not saved.');
  expect(await readApplication('shop')).toMatchObject({ displayName: 'Store' });

  await items
    .nth(2)
    .getByRole('button', { name: /^Restore/ })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await items.nth(3).waitFor();
  await page.getByText('Everything is saved').waitFor();
  expect(await page.getByLabel(/^Instructions/).inputValue()).toBe(instructions.join('\n'));
  expect(await page.getByLabel('Description').first().inputValue()).toBe('');
  expect(await readApplication('shop')).toMatchObject(quickApp({ instructions: instructions.join('\n'), starters: ['Hi'] }));
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('does not overwrite a newer version from elsewhere and reports versions without visible differences', async () => {
  await store(service, 'raced', quickApp({}, { displayName: 'Raced' }));
  await store(service, 'raced', quickApp({}, { displayName: 'Raced' }));
  const { page } = await openEditor('raced', { browser, service });
  await page.locator('summary', { hasText: /^Versions$/ }).click();
  await page.getByRole('button', { name: /^Compare/ }).click();
  await page.getByText('No visible differences.').waitFor();
  await store(service, 'raced', quickApp({}, { displayName: 'From elsewhere' }));
  await page.getByRole('button', { name: /^Restore/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await page.locator('.builder-tools-body').getByRole('alert').waitFor();
  expect(await readApplication('raced')).toMatchObject({ displayName: 'From elsewhere' });
});

it('compares and restores versions with the keyboard only', async () => {
  await storeThreeVersions('keyed');
  const { page } = await openEditor('keyed', { browser, service });
  await page.locator('summary', { hasText: /^Versions$/ }).focus();
  await page.keyboard.press('Enter');
  await page
    .getByRole('button', { name: /^Compare/ })
    .first()
    .waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Changed since then' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await dialog.getByRole('button', { name: 'Restore' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => readApplication('keyed')).toMatchObject({ displayName: 'Shop' });
});

describe('the versions of an application', () => {
  it.each(viewports)('have no accessibility violations or overflow: %s', async (_look, options) => {
    await storeThreeVersions('seen');
    const { page } = await openEditor('seen', { browser, service, options });
    await page.locator('summary', { hasText: /^Versions$/ }).click();
    await page
      .getByRole('button', { name: /^Compare/ })
      .last()
      .click();
    await page.getByRole('list', { name: 'Changed since then' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page
      .getByRole('button', { name: /^Restore/ })
      .last()
      .click();
    await page.getByRole('dialog').waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
