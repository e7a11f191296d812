import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerKey, withKey } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp } from '../applications/support.ts';
import { openEditor, store } from './builder-support.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture({ keys: { [callerKey]: { project: 'test', roles: ['staff'] } } });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const readDescription = async (): Promise<unknown> => {
  const request = { method: 'GET', path: getApplicationPath('guide'), headers: withKey() } as const;
  const { json } = await fixture.service.sendRequest(request);
  return (json as { description?: string }).description;
};

it('keeps changes of a shared application apart until the user saves them for everyone', async () => {
  const { service, browser } = fixture;
  await store(service, 'guide', quickApp({}, { displayName: 'Guide', description: 'Old.', userRoles: ['default'] }));
  const { page } = await openEditor('guide', { browser, service });
  const description = page.getByLabel('Description').first();
  await description.fill('New.');
  await page.getByText('Only you see these changes until you save').waitFor();
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
