import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

interface LoadedResource {
  readonly name: string;
  /** Compressed size in bytes. */
  readonly encodedBodySize: number;
}

const scripts = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.endsWith('.js'))
  .map(({ name, encodedBodySize }) => ({ name: name.split('/').at(-1), encodedBodySize }))`;

const everything = `performance.getEntries()
  .filter(({ entryType }) => entryType === 'navigation' || entryType === 'resource')
  .map(({ name, encodedBodySize }) => ({ name, encodedBodySize }))`;

it('loads at most 120 kB in 10 requests before the first chat, and other views on demand', async () => {
  const { page, issues } = await fixture.openAt(`/#key=${callerKey}`);
  await page.locator('.starter').first().waitFor();
  await page.waitForLoadState('networkidle');
  const readResources = async () => {
    const resources = (await page.evaluate(everything)) as readonly LoadedResource[];
    // The typeface loads after a chat can start (see typeface.test.ts). On a busy machine, that may happen before this point.
    const required = resources.filter(({ name }) => !name.includes('public-sans'));
    return { count: required.length, bytes: required.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) };
  };
  // The browser lists a file with its size some time after the page has used it.
  await expect.poll(async () => (await readResources()).bytes).toBeGreaterThan(20_000);
  const { count, bytes } = await readResources();
  expect(bytes).toBeLessThan(120_000);
  expect(count).toBeLessThanOrEqual(10);
  const first = (await page.evaluate(scripts)) as readonly LoadedResource[];

  const knownNames = new Set(first.map(({ name }) => name));
  for (const path of ['build/new', 'files', 'usage']) {
    await page.evaluate(`location.hash = '#/${path}'`);
    await page.locator('main h1').first().waitFor();
    const loaded = (await page.evaluate(scripts)) as readonly LoadedResource[];
    const added = loaded.filter(({ name }) => !knownNames.has(name));
    expect([path, added.length > 0]).toEqual([path, true]);
    for (const { name } of added) knownNames.add(name);
    await page.evaluate("location.hash = '#/'");
    await page.locator('#message').waitFor();
  }
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
