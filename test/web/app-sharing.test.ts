import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { type FreshDatabase, freshSqlite } from '#test/sql-engines.ts';
import { createKeyStores, type OpenDatabase } from '#test/sql-stores.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp } from '../applications/support.ts';
import { openEditor, store } from './builder-support.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

let fixture: PageFixture;
let fresh: FreshDatabase;
let opened: OpenDatabase;

beforeAll(async () => {
  fresh = await freshSqlite();
  opened = await fresh.open();
  const keyStores = createKeyStores(opened.database);
  const person = { project: null, roles: ['staff'], seenAtMs: Date.now() };
  await keyStores.people?.record({ id: 'u-1', name: 'Ada Lovelace', address: 'ada@example.com', ...person }, 0);
  await keyStores.people?.record({ id: 'u-2', name: 'Adam Smith', address: 'adam@example.com', ...person }, 0);
  fixture = await startPageFixture(
    {
      keys: {
        [callerKey]: { project: 'test', roles: ['staff'] },
        reader: { project: 'reader', role: 'reader', name: 'Anna Berg' },
      },
    },
    {
      keys: { ...keyStores, isShared: false },
      files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() },
    },
  );
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await opened.close();
  await fresh[Symbol.asyncDispose]();
});

beforeEach(() => store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', description: 'Old.' })));

interface StoredGuide {
  readonly description?: string;
  readonly userRoles?: readonly string[];
  readonly users?: readonly string[];
}

const readGuide = async (): Promise<StoredGuide> => {
  const request = { method: 'GET', path: getApplicationPath('guide'), headers: withKey() } as const;
  return (await fixture.service.sendRequest(request)).json as StoredGuide;
};
const openDialog = async (page: Page) => {
  await page.getByRole('button', { name: 'Share…' }).click();
  return page.getByRole('dialog', { name: 'Share Guide' });
};

it('shares an application with a person and a role, and keeps unsaved changes apart', async () => {
  const { page, issues } = await openEditor('guide', fixture);
  await page.getByText('Only you can use it.').waitFor();
  const description = page.getByLabel('Description').first();
  await description.fill('New.');
  const dialog = await openDialog(page);
  await dialog.getByText('They do not see how you set it up, and you do not see their chats.').waitFor();
  await dialog.getByText('When you save a change to the application, everyone with access gets the new version.').waitFor();
  await dialog.getByRole('button', { name: 'Give access to staff' }).waitFor();
  await dialog.getByRole('searchbox').fill('ada l');
  await dialog.getByRole('button', { name: 'Give access to Ada Lovelace' }).click();
  await dialog.getByRole('button', { name: 'Remove the access of Ada Lovelace' }).waitFor();
  expect(await dialog.getByRole('button', { name: 'Ada Lovelace has access.' }).isDisabled()).toBe(true);
  await dialog.getByRole('searchbox').fill('reader');
  await dialog
    .getByRole('list', { name: 'Found' })
    .getByRole('listitem')
    .filter({ hasText: 'readerEveryone with this role' })
    .getByRole('button')
    .click();
  await dialog.getByRole('button', { name: 'Remove the access of reader' }).waitFor();
  expect(await readGuide()).toMatchObject({ description: 'Old.', userRoles: ['reader'], users: ['u-1'] });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('You, and 1 person, and everyone with the role reader.').waitFor();
  await page.getByText('Not saved. Until you save, only you see the changes. Closing the tab loses them.').waitFor();
  expect(await description.inputValue()).toBe('New.');
  await page.getByRole('button', { name: 'Save for everyone' }).click();
  await page.getByText('Everything is saved').waitFor();
  expect(await readGuide()).toMatchObject({ description: 'New.', userRoles: ['reader'], users: ['u-1'] });
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('offers to load the access again after a failure, at the end of the editor', async () => {
  const { page } = await openEditor('guide', fixture);
  expect(await page.locator('.builder > section').last().getByRole('button', { name: 'Share…' }).count()).toBe(1);
  const access = /\/v1\/access\//;
  await page.route(access, (route) => route.abort());
  const dialog = await openDialog(page);
  await dialog.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await page.unroute(access);
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByRole('searchbox').waitFor();
  expect(await dialog.getByRole('alert').count()).toBe(0);
});

it('shares only with the entry that is clicked twice', async () => {
  const { page } = await openEditor('guide', fixture);
  const dialog = await openDialog(page);
  await dialog.getByRole('searchbox').fill('ad');
  await dialog.getByRole('button', { name: 'Give access to Ada Lovelace' }).dblclick();
  await dialog.getByRole('button', { name: 'Remove the access of Ada Lovelace' }).waitFor();
  await dialog.getByRole('button', { name: 'Ada Lovelace has access.' }).click({ force: true });
  expect(await dialog.getByRole('list', { name: 'Found' }).locator('li').allInnerTexts()).toEqual([
    expect.stringMatching(/Ada Lovelace[\s\S]*Has access/),
    expect.stringMatching(/Adam Smith[\s\S]*Give access/),
  ]);
  expect((await readGuide()).users).toEqual(['u-1']);
});

it('finds the users of a key by its name, and names the default role', async () => {
  const { page } = await openEditor('guide', fixture);
  const dialog = await openDialog(page);
  await dialog.getByRole('searchbox').fill('anna berg');
  await dialog.getByRole('listitem').filter({ hasText: 'Everyone with a key of this team' }).waitFor();
  await dialog.getByRole('button', { name: 'Give access to reader (key)' }).click();
  await dialog.getByRole('searchbox').fill('default');
  await dialog.getByRole('button', { name: 'Give access to Everyone with the standard role' }).click();
  await dialog.getByRole('button', { name: 'Remove the access of Everyone with the standard role' }).waitFor();
  expect(await readGuide()).toMatchObject({ userRoles: ['default'], users: ['key:reader'] });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('You, and 1 team, and everyone with the role standard (default).').waitFor();
});

it('names its owner to a person who loses access during a chat', async () => {
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', users: ['key:reader'] }));
  const { page } = await fixture.openAt('/#key=reader');
  await page.getByRole('button', { name: 'Guide (test)' }).click();
  await page.locator('.shared-strip').getByText('Application by test, who does not see your chats.').waitFor();
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide' }));
  await page.locator('#message').fill('Hello');
  await page.locator('#message').press('Enter');
  await page
    .locator('.answer-error')
    .getByText('test no longer shares this application with you. Ask test to share it again, or choose another')
    .waitFor();
  expect(await page.getByText('ask your administrator').count()).toBe(0);
});

it('appears on the start page of a person, with the name of the owner', async () => {
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', users: ['key:reader'] }));
  for (const [, options] of viewports) {
    const { page } = await fixture.openAt('/#key=reader', options);
    const shared = page.getByRole('region', { name: 'Shared with you' });
    await shared.getByRole('button', { name: 'Guide (test)' }).waitFor();
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await shared.getByRole('button', { name: 'Guide (test)' }).click();
    await page.getByText('Application by test').waitFor();
  }
});

it('appears in the list of applications of a person, with the name of the owner', async () => {
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', users: ['key:reader'] }));
  for (const [, options] of viewports) {
    const { page } = await fixture.openAt('/#key=reader', options);
    await page.locator('#message').waitFor();
    await page.evaluate(`location.hash = '#/build'`);
    await page.getByText('You have no applications of your own yet.').waitFor();
    const shared = page.getByRole('region', { name: 'Shared with you' });
    await shared.getByText('Shared by test').waitFor();
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    // On a phone, the text is above the button and uses the width.
    if (options.isMobile) expect((await shared.locator('.builder-item').boundingBox())?.width).toBeGreaterThan(280);
    await shared.getByRole('link', { name: 'Open in chat: Guide' }).click();
    await page.locator('.picker', { hasText: 'Guide' }).waitFor();
  }
});

it('has a picture from an image file, which its users see too', async () => {
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', users: ['key:reader'] }));
  const { page, issues } = await openEditor('guide', fixture);
  const input = page.getByRole('group', { name: 'Picture' }).locator('input[type=file]');
  await input.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') });
  await page.getByText('This file is not a picture').waitFor();
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="red"/></svg>';
  await input.setInputFiles({ name: 'red.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) });
  await page.getByRole('button', { name: 'Remove the picture' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save for everyone' }).click();
  await page.getByText('Everything is saved').waitFor();
  const { page: recipient } = await fixture.openAt('/#key=reader');
  const picture = recipient.getByRole('button', { name: 'Guide (test)' }).locator('img');
  expect(await picture.getAttribute('src')).toMatch(/^data:image\/webp;base64,/);
  expect(await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth)).toBe(128);
  for (const user of [page, recipient]) {
    await user.getByRole('link', { name: 'Your applications' }).click();
    await user.locator('.consent', { hasText: 'Guide' }).locator('img').waitFor();
  }
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('removes access, and rejects an unknown person or role', async () => {
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', userRoles: ['staff'], users: ['u-2'] }));
  const { page } = await openEditor('guide', fixture);
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Remove the access of Adam Smith' }).click();
  await dialog.getByRole('button', { name: 'Give access to Adam Smith' }).waitFor({ state: 'detached' });
  await dialog.getByRole('searchbox', { name: 'Name or email address' }).fill('zq');
  await page.waitForResponse(/v1\/people\?search=zq$/);
  await dialog.getByRole('searchbox').fill('stafff');
  await dialog.getByText('Nothing found for “stafff”. Enter the complete email address').waitFor();
  await dialog.getByRole('searchbox').fill('staff');
  await dialog.getByRole('button', { name: 'staff has access.' }).waitFor();
  expect(await dialog.getByRole('button', { name: /^Give access/ }).count()).toBe(0);
  expect((await readGuide()).users).toEqual([]);
});

it('detects a concurrent change of the settings after the access has changed', async () => {
  const { page } = await openEditor('guide', fixture);
  await page.getByLabel('Description').first().fill('From here');
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', description: 'From elsewhere' }));
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Give access to staff' }).click();
  await dialog.getByRole('button', { name: 'Remove the access of staff' }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Save for everyone' }).click();
  await page.getByText('The application was changed elsewhere').waitFor();
  expect((await readGuide()).description).toBe('From elsewhere');
  await page.getByRole('button', { name: 'Overwrite it with mine' }).click();
  await page.getByText('Everything is saved').waitFor();
  expect(await readGuide()).toMatchObject({ description: 'From here', userRoles: ['staff'] });
});

it('creates a private copy, and exports no users', async () => {
  await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', userRoles: ['staff'], users: ['u-1'] }));
  const { page } = await openEditor('guide', fixture);
  await page.getByRole('link', { name: 'All applications' }).click();
  await page.getByText(/^Changed .* · Shared$/).waitFor();
  await page.getByLabel('More for Guide').click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const stream = await (await download).createReadStream();
  const file = JSON.parse(Buffer.concat(await stream.toArray()).toString());
  expect(file).toMatchObject(quickApp());
  expect(file).not.toHaveProperty('users');
  expect(file).not.toHaveProperty('userRoles');
  await page.getByLabel('More for Guide').click();
  await page.getByRole('button', { name: 'Duplicate' }).click();
  await page.getByText('Only you can use the copy.').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForURL(/guide-copy$/);
  await page.getByText('Only you can use it.').waitFor();
  const path = `/v1/applications/${ownBucket}/guide-copy`;
  const copy = (await fixture.service.sendRequest({ method: 'GET', path, headers: withKey() })).json;
  expect(copy).not.toHaveProperty('userRoles');
});

describe.each(viewports)('the dialog for sharing at the window size %s', (_viewport, options) => {
  it('has no accessibility violations or overflow', async () => {
    await store(fixture.service, 'guide', quickApp({}, { displayName: 'Guide', userRoles: ['staff'], users: ['u-1'] }));
    const { page } = await openEditor('guide', { ...fixture, options });
    const dialog = await openDialog(page);
    await dialog.getByRole('searchbox').fill('ada');
    await dialog.getByRole('button', { name: 'Give access to Adam Smith' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
  });
});
