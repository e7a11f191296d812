import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp } from '../applications/support.ts';
import { openEditor, store } from './builder-support.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture(
    { keys: { [callerKey]: { project: 'test', roles: ['staff'] } } },
    { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } },
  );
});

afterAll(() => fixture[Symbol.asyncDispose]());

const readDescription = async (): Promise<unknown> => {
  const request = { method: 'GET', path: getApplicationPath('guide'), headers: withKey() } as const;
  const { json } = await fixture.service.sendRequest(request);
  return (json as { description?: string }).description;
};

async function discardChanges(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
}

it('keeps changes of a shared application apart until the user saves them for everyone', async () => {
  const { service, browser } = fixture;
  await store(service, 'guide', quickApp({}, { displayName: 'Guide', description: 'Old.', userRoles: ['default'] }));
  const { page } = await openEditor('guide', { browser, service });
  const description = page.getByLabel('Description').first();
  await description.fill('New.');
  await page.getByText('Until you save, only you see the changes.').waitFor();
  const buttonTops = (await page.locator('.builder-bar > .button').all()).map(async (button) => (await button.boundingBox())?.y);
  expect(buttonTops).toHaveLength(3);
  expect(new Set(await Promise.all(buttonTops)).size).toBe(1);
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await description.inputValue()).toBe('New.');
  await discardChanges(page);
  await page.getByText('Everything is saved').waitFor();
  expect(await description.inputValue()).toBe('Old.');
  await description.fill('New.');
  await page.getByRole('button', { name: 'Open shared version' }).click();
  await page.locator('.picker', { hasText: 'Guide' }).waitFor();
  expect(await readDescription()).toBe('Old.');

  await page.evaluate(`location.hash = '#/build/applications/${ownBucket}/guide'`);
  await page.getByRole('button', { name: 'Discard changes' }).waitFor();
  expect(await description.inputValue()).toBe('New.');
  await page.getByRole('button', { name: 'Save for everyone' }).click();
  await page.getByText('Everything is saved').waitFor();
  expect(await readDescription()).toBe('New.');
  expect(await page.evaluate('Object.keys(sessionStorage).filter((name) => name.includes(" app ")).length')).toBe(0);
});

const countDrafts = 'Object.keys(sessionStorage).filter((name) => name.includes(" app ")).length';

it('shows the stored number after the user discards changes', async () => {
  const { service, browser } = fixture;
  await store(service, 'limited', quickApp({ context: { reserveTokens: 100 } }, { displayName: 'Limited' }));
  const { page } = await openEditor('limited', { browser, service });
  const number = page.getByLabel('Tokens kept free');
  await number.fill('250');
  await discardChanges(page);
  await page.getByText('Everything is saved').waitFor();
  expect(await number.inputValue()).toBe('100');
});

it('restores a new application after a reload, and asks before a template replaces it', async () => {
  const { page } = await fixture.openAt(`/#key=${callerKey}`);
  await page.locator('#message').waitFor();
  await page.evaluate(`location.hash = '#/build'`);
  await page.getByRole('button', { name: 'New application' }).click();
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('Half done');
  await page.goBack();
  await page.getByRole('button', { name: 'New application' }).click();
  await page.getByRole('button', { name: 'Discard changes' }).waitFor();
  expect(await name.inputValue()).toBe('Half done');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByRole('button', { name: 'Discard changes' }).waitFor();
  expect(await name.inputValue()).toBe('Half done');

  await page.goBack();
  await page.getByRole('button', { name: /^Weather/ }).click();
  await page.getByText('You have an unsaved new application in this tab. Replace it?').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'New application' }).click();
  expect(await name.inputValue()).toBe('Half done');
  await discardChanges(page);
  await page.getByRole('button', { name: /^Weather/ }).click();
  expect(await name.inputValue()).toBe('Weather');
  expect(await page.evaluate(countDrafts)).toBe(0);
});

it('creates a deleted application again from its unsaved changes', async () => {
  const { service, browser } = fixture;
  const deleteGuide = async (): Promise<void> => {
    await service.sendRequest({ method: 'DELETE', path: getApplicationPath('guide'), headers: withKey() });
  };
  await store(service, 'guide', quickApp({}, { displayName: 'Guide', userRoles: ['staff'] }));
  const { page } = await openEditor('guide', { browser, service });
  const description = page.getByLabel('Description').first();
  await description.fill('Kept.');
  await deleteGuide();
  await page.getByRole('button', { name: 'Save for everyone' }).click();
  await page.getByRole('button', { name: 'Overwrite it with mine' }).click();
  await page.getByText('Everything is saved').waitFor();
  await page.getByText('Only you can use it.').waitFor();
  expect(await readDescription()).toBe('Kept.');

  await description.fill('Kept again.');
  await page.evaluate(`location.hash = '#/build'`);
  await page.getByRole('button', { name: 'New application' }).waitFor();
  await deleteGuide();
  await page.goBack();
  await page.getByText('This application no longer exists. Your unsaved changes are here.').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Everything is saved').waitFor();
  expect(await readDescription()).toBe('Kept again.');
});

it('keeps unsaved changes if the application cannot be loaded, and does not save them as another one', async () => {
  const { service, browser } = fixture;
  await store(service, 'guide', quickApp({}, { displayName: 'Guide' }));
  const { page } = await openEditor('guide', { browser, service });
  const description = page.getByLabel('Description').first();
  await description.fill('Kept.');
  await page.evaluate(`location.hash = '#/build'`);
  await page.getByRole('button', { name: 'New application' }).waitFor();
  await page.route('**/v1/applications/*/guide', (route) => route.abort());
  await page.goBack();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('button', { name: /^Save/ }).count()).toBe(0);
  await page.unroute('**/v1/applications/*/guide');
  await page.reload();
  await page.getByRole('button', { name: 'Discard changes' }).waitFor();
  expect(await description.inputValue()).toBe('Kept.');
});

it('asks before a sign-out deletes unsaved changes', async () => {
  const { service, browser } = fixture;
  await store(service, 'guide', quickApp({}, { displayName: 'Guide' }));
  const { page } = await openEditor('guide', { browser, service });
  await page.getByLabel('Description').first().fill('Unsaved.');
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText(/You lose unsaved changes to your applications\.$/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).last().click();
  await page.locator('main.sign-in').waitFor();
  expect(await page.evaluate(countDrafts)).toBe(0);
});
