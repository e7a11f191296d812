import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations, measureOverflow } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Runs a copied snippet with the key in the environment. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout } = await promisify(execFile)(program, args, { cwd, env: { ...process.env, KEY: callerKey } });
  return stdout;
}

it('shows the address, the model, the key, and snippets that run unchanged', async () => {
  const { page, issues } = await fixture.open('demo');
  await page.getByRole('button', { name: 'Use from code' }).click();
  const dialog = page.getByRole('dialog', { name: 'Use Demo from code' });
  await dialog.waitFor();
  expect(await dialog.locator('dd').allTextContents()).toEqual([
    `${fixture.service.url}/v1`,
    'demo',
    expect.stringContaining('The key you are signed in with also works.'),
  ]);
  const readSnippet = async (name: string): Promise<string> => {
    await dialog.getByRole('radio', { name, exact: true }).check();
    return (await dialog.locator('.code-block').last().locator('code').textContent()) ?? '';
  };
  expect(await run('sh', '-c', await readSnippet('curl'))).toMatch(/"role":"assistant","content":"[^"]/);
  expect(await run(process.execPath, '--input-type=module', '--eval', await readSnippet('JavaScript'))).toMatch(/\w/);
  expect(await readSnippet('Codex')).toContain(`base_url = "${fixture.service.url}/v1"`);
  expect(await readSnippet('Claude Code')).toContain('ANTHROPIC_MODEL=demo');
  expect(await findViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await measureOverflow(page)).toBe(0);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
