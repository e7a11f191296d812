import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { TestService } from '#test/start-service.ts';
import { quickApp } from '../quick-apps/support.ts';
import { openEditor, store } from './builder-support.ts';
import { startBrowser, startPageService, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

let browser: TestBrowser;
let service: TestService;

const toolset = {
  ...{ type: 'mcp', name: 'Files' },
  mcp_server_info: { url: 'https://files.example/mcp', protocol: 'streamable_http' },
};

beforeAll(async () => {
  browser = await startBrowser();
  service = await startPageService({ models: { model: { displayName: 'Model', upstreams: [{ protocol: 'demo' }] } } });
  await store(service, 'plain', quickApp({ mcp_toolset: [toolset] }));
  await store(service, 'fine', quickApp({ context: { strategy: 'clear' } }));
});

afterAll(async () => {
  await service.close();
});

it.each([
  [
    'en-GB',
    /Left empty: none\.|ID of the model|Display name of the toolset/,
    'How much the answers vary, from 0 (always similar) to 1.',
  ],
  ['de-DE', /Leer: kein/, 'Wie abwechslungsreich die Antworten sind, von 0 (immer ähnlich) bis 1.'],
  ['fr-FR', /Vide\s?: aucun/, 'de 0 (toujours semblables) à 1'],
  ['es-ES', /Vacío: ningun/, 'de 0 (siempre parecidas) a 1'],
] as const)('shows help only if it adds to the label: %s', async (locale, needless, useful) => {
  const { page } = await openEditor('plain', { browser, service, options: { locale } });
  await page.locator('.builder-disclosure[open]').first().waitFor();
  const text = (await page.locator('.builder').textContent()) ?? '';
  expect(text).not.toMatch(needless);
  expect(text.toLowerCase()).toContain(useful.toLowerCase());
});

it.each(viewports)('collapses advanced settings unless one of them is set: %s', async (_look, options) => {
  const { page } = await openEditor('plain', { browser, service, options });
  const fine = page.locator('.builder-disclosure', { hasText: 'Long chats and search' });
  await fine.waitFor();
  expect(await fine.getByText('Strategy').isVisible()).toBe(false);
  await fine.locator('> summary').click();
  await fine.getByText('Strategy').waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  const other = await openEditor('fine', { browser, service, options });
  await other.page.locator('.builder-disclosure[open]', { hasText: 'Strategy' }).waitFor();
});
