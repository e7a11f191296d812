import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PageHouse, startPageHouse } from './support.ts';
import { looks, violations } from './violations.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

it.each(looks.slice(0, 2))('The API reference keeps nobody out in the look %s', { timeout: 60_000 }, async (_look, options) => {
  const { page, troubles } = await house.openAt('/docs', { ...options, bypassCSP: true });
  await page.locator('ul.endpoints[tabindex="0"]').first().waitFor();
  expect(await violations(page)).toEqual([]);
  expect(troubles).toEqual({ outside: [], faults: [] });
});
