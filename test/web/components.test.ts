import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

const web = fileURLToPath(new URL('../../web/', import.meta.url));
let browser: TestBrowser;
let server: ViteDevServer;
let address: string;

beforeAll(async () => {
  browser = await startBrowser();
  server = await createServer({ configFile: `${web}vite.config.ts`, logLevel: 'error', server: { port: 0, host: '127.0.0.1' } });
  await server.listen();
  address = `${server.resolvedUrls?.local[0]}components/`;
});

afterAll(async () => {
  await server.close();
});

/** Components that are complete views, wrap other components, or show no content without a service. */
const excludedParts = ['lazy-view', 'deployment-name'];

describe('the component gallery', () => {
  it.each(viewports)('shows the components without accessibility violations: %s', async (_look, options) => {
    const { page, issues } = await browser.open(address, options);
    await page.getByRole('heading', { name: 'Answers' }).waitFor();
    await page.locator('.markdown .formula').waitFor();
    await page.locator('.chart svg').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Answered: yes').waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows every design token and applies the chosen display settings', async () => {
    const { page } = await browser.open(address);
    await page.getByText('space-7').waitFor();
    const tokens =
      readFileSync(`${web}src/style/tokens.css`, 'utf8').match(/^ {2}--(text|space|radius|tint|series)-[\w-]+/gm) ?? [];
    const text = await page.locator('.components').innerText();
    expect([...new Set(tokens)].filter((token) => !text.includes(token.trim().slice(2)))).toEqual([]);
    await page.getByRole('radio', { name: 'largest' }).check();
    expect(await page.evaluate('document.documentElement.dataset.textSize')).toBe('largest');
  });

  it('includes every shared component', () => {
    const gallerySources = globSync('components/*.tsx', { cwd: web }).map((file) => readFileSync(web + file, 'utf8'));
    const parts = globSync('src/parts/*.tsx', { cwd: web }).map((file) => file.replace(/^.*\/|\.tsx$/g, ''));
    const missing = parts.filter((part) => !part.startsWith('use-') && !excludedParts.includes(part));
    expect(missing.filter((part) => !gallerySources.some((source) => source.includes(`/parts/${part}.tsx'`)))).toEqual([]);
    expect(parts.length).toBeGreaterThan(10);
  });

  it('is not part of the build', () => {
    const builtFiles = globSync('dist/**/*.{html,js}', { cwd: web });
    expect(builtFiles.length).toBeGreaterThan(10);
    const strays = builtFiles.filter((file) => /Components of the page|type-scale/.test(readFileSync(web + file, 'utf8')));
    expect(strays).toEqual([]);
  });
});
