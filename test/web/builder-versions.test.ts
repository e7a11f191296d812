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
  const upstreams = [{ protocol: 'demo' }];
  const models = { demo: { displayName: 'Demo', upstreams }, other: { displayName: 'Other', upstreams } };
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
  const changes = page.getByRole('list', { name: 'Changed settings' });
  await changes.getByText('Temperature').waitFor();
  await page.getByText('4 changed settings').waitFor();
  expect(await changes.locator('.version-setting').allTextContents()).toEqual([
    ...['Name', 'Instructions', 'Temperature', 'Suggestions'],
  ]);
  const sides = changes.locator('li', { hasText: 'Instructions' }).locator('.version-sides > div');
  expect(await sides.locator('p').allTextContents()).toEqual([
    expect.stringMatching(/^version 1, /),
    'Current, used in all chats',
  ]);
  const lines = sides.locator('pre > *');
  expect((await lines.allTextContents()).map((line) => line.trim())).toEqual([
    ...['3 unchanged lines', 'Two.', 'Three.', 'Never invent prices.'],
    ...['3 unchanged lines', 'Two.', 'Three.', 'Say <b>prices</b>.'],
  ]);
  expect(await lines.evaluateAll((all: { tagName: string }[]) => all.map(({ tagName }) => tagName))).toEqual([
    ...['SPAN', 'SPAN', 'SPAN', 'DEL', 'SPAN', 'SPAN', 'SPAN', 'INS'],
  ]);
  expect(await changes.locator('li', { hasText: 'Suggestions' }).getByText('Not set').count()).toBe(1);

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
  await page.locator('.builder-disclosure-body').getByRole('alert').waitFor();
  expect(await readApplication('raced')).toMatchObject({ displayName: 'From elsewhere' });
});

it('compares any two versions, with the words of the form', async () => {
  const picture = (color: string) =>
    `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg"><path fill="${color}"/></svg>`)}`;
  const server = {
    type: 'mcp',
    name: 'Board',
    mcp_server_info: { url: 'https://board.invalid', protocol: 'sse' },
    resources: true,
  };
  const first = quickApp({ model: 'demo' }, { displayName: 'One', iconUrl: picture('red') });
  const second = quickApp({ model: 'other', temperature: 0.5 }, { displayName: 'One', iconUrl: picture('blue') });
  const third = quickApp(
    { model: 'other', temperature: 0.5, mcp_toolset: [server] },
    { displayName: 'Two', iconUrl: picture('blue') },
  );
  for (const entry of [first, second, third]) await store(service, 'pairs', entry);
  const { page } = await openEditor('pairs', { browser, service });
  await page.locator('summary', { hasText: /^Versions$/ }).click();
  const oldest = page.locator('.version').last();
  await oldest.getByRole('button', { name: /^Compare/ }).click();
  const settings = oldest.locator('.version-setting');
  await oldest.getByText('5 changed settings').waitFor();
  expect(await settings.allTextContents()).toEqual(['Name', 'Picture', 'Model', 'Temperature', 'MCP servers']);
  expect(await oldest.locator('li', { hasText: 'MCP servers' }).locator('pre').textContent()).toBe(
    'Name: Board\nServer:\n  Address: https://board.invalid\n  Protocol: Server-sent events\nResources: yes\n',
  );

  const choice = oldest.getByLabel('Compared with');
  expect(await choice.locator('option').allTextContents()).toEqual([
    'Current, used in all chats',
    expect.stringMatching(/^version 2, /),
  ]);
  await choice.focus();
  await page.keyboard.press('ArrowDown');
  await oldest.getByText('3 changed settings').waitFor();
  expect(await settings.allTextContents()).toEqual(['Picture', 'Model', 'Temperature']);
  expect(await oldest.locator('.version-sides').nth(1).locator('pre').allTextContents()).toEqual(['Demo\n', 'Other\n']);
  expect(await oldest.getByRole('img', { name: 'Picture' }).count()).toBe(2);
  expect(await choice.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
});

it('loads each compared version once, and compares again only if the user chooses another one', async () => {
  await storeThreeVersions('once');
  const { page } = await openEditor('once', { browser, service });
  const loaded: string[] = [];
  page.on('request', (request) => {
    const version = new URL(request.url()).searchParams.get('version');
    if (version !== null) loaded.push(version);
  });
  await page.locator('summary', { hasText: /^Versions$/ }).click();
  const oldest = page.locator('.version').last();
  await oldest.getByRole('button', { name: /^Compare/ }).click();
  await oldest.getByText('4 changed settings').waitFor();
  const choice = oldest.getByLabel('Compared with');
  await choice.selectOption('2');
  await oldest.getByText('3 changed settings').waitFor();
  await choice.selectOption('3');
  await oldest.getByText('4 changed settings').waitFor();
  expect(loaded.toSorted()).toEqual(['1', '2', '3']);
  // Each comparison splits the compared texts into lines.
  await page.evaluate(`
    const { split } = String.prototype
    globalThis.comparisons = 0
    String.prototype.split = function (...parameters) {
      if (String(this).includes('Never invent prices.')) globalThis.comparisons += 1
      return split.apply(this, parameters)
    }
  `);
  await page.getByLabel('Description').first().pressSequentially('More');
  expect(await page.evaluate('globalThis.comparisons')).toBe(0);
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
  const changes = page.getByRole('list', { name: 'Changed settings' });
  await changes.getByText('Store').waitFor();
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
    await page.getByText('4 changed settings').waitFor();
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
