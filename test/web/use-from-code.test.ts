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

it.each(['light', 'dark'] as const)('shows complete lines on a phone, in the color scheme %s', async (colorScheme) => {
  const { page } = await fixture.open('demo', {
    ...{ colorScheme, locale: 'de', viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true },
  });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('im code');
  await page.getByRole('option', { name: 'Im Code verwenden' }).click();
  const dialog = page.getByRole('dialog', { name: 'Demo im Code verwenden' });
  for (const name of ['curl', 'Python', 'Claude Code']) {
    await dialog.getByRole('radio', { name, exact: true }).check();
    const wide = `[...document.querySelectorAll('.code-dialog, .code-dialog *')]
      .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1).map(({ className }) => className)`;
    expect(await page.evaluate(wide)).toEqual([]);
  }
  expect(await findViolations(page)).toEqual([]);
});
