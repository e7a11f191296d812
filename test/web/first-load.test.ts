import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageHouse, startPageHouse } from './support.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

interface Loaded {
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

it('loads at most 120 kB in 12 requests before the first chat, and other views on demand', async () => {
  const { page, troubles } = await house.openAt(`/#key=${callerKey}`);
  await page.locator('.starter').first().waitFor();
  await page.waitForLoadState('networkidle');
  const whole = (await page.evaluate(everything)) as readonly Loaded[];
  // The typeface loads after a chat can start (see typeface.test.ts). On a busy machine, that may happen before this point.
  const all = whole.filter(({ name }) => !name.includes('public-sans'));
  const bytes = all.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(120_000);
  expect(all.length).toBeLessThanOrEqual(12);
  const first = (await page.evaluate(scripts)) as readonly Loaded[];

  const known = new Set(first.map(({ name }) => name));
  for (const place of ['build/new', 'files', 'usage']) {
    await page.evaluate(`location.hash = '#/${place}'`);
    await page.locator('main h1').first().waitFor();
    const loaded = (await page.evaluate(scripts)) as readonly Loaded[];
    const added = loaded.filter(({ name }) => !known.has(name));
    expect([place, added.length > 0]).toEqual([place, true]);
    for (const { name } of added) known.add(name);
    await page.evaluate("location.hash = '#/'");
    await page.locator('#message').waitFor();
  }
  expect(troubles).toEqual({ outside: [], faults: [] });
});
