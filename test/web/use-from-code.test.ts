import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageHouse, startPageHouse } from './support.ts';
import { overhang, violations } from './violations.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

/** Runs a copied snippet with the key in the environment. */
async function run(program: string, ...words: readonly string[]): Promise<string> {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout } = await promisify(execFile)(program, words, { cwd, env: { ...process.env, KEY: callerKey } });
  return stdout;
}

it('shows the address, the model, the key, and snippets that run unchanged', async () => {
  const { page, troubles } = await house.open('demo');
  await page.getByRole('button', { name: 'Use from code' }).click();
  const dialog = page.getByRole('dialog', { name: 'Use Demo from code' });
  await dialog.waitFor();
  expect(await dialog.locator('dd').allTextContents()).toEqual([
    `${house.service.url}/v1`,
    'demo',
    expect.stringContaining('The key you are signed in with also works.'),
  ]);
  const shown = async (name: string): Promise<string> => {
    await dialog.getByRole('radio', { name, exact: true }).check();
    return (await dialog.locator('.code-block').last().locator('code').textContent()) ?? '';
  };
  expect(await run('sh', '-c', await shown('curl'))).toMatch(/"role":"assistant","content":"[^"]/);
  expect(await run(process.execPath, '--input-type=module', '--eval', await shown('JavaScript'))).toMatch(/\w/);
  expect(await shown('Codex')).toContain(`base_url = "${house.service.url}/v1"`);
  expect(await shown('Claude Code')).toContain('ANTHROPIC_MODEL=demo');
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await overhang(page)).toBe(0);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(troubles).toEqual({ outside: [], faults: [] });
});
