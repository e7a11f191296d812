import { expect, it } from 'vitest';
import { startProcess } from '#test/start-process.ts';
import { startBrowser } from './support.ts';
import { axeViolations, looks } from './violations.ts';

it('The API reference keeps nobody out, whatever its look', { timeout: 90_000 }, async () => {
  await using service = await startProcess({ configuration: { models: { demo: { upstreams: [{ protocol: 'demo' }] } } } });
  const browser = await startBrowser();
  // It is one page in all sizes, and to load it costs as much as to check it.
  const { page, troubles } = await browser.open(`${service.url}/docs`, { bypassCSP: true });
  await page.locator('ul.endpoints[tabindex="0"]').first().waitFor({ state: 'attached' });
  const isOurs = `document.fonts.check('16px "Public Sans"') && getComputedStyle(document.querySelector('.endpoint')).fontFamily`;
  for (const [look, { viewport }] of looks) {
    if (viewport != null) await page.setViewportSize(viewport);
    await expect.poll(() => page.evaluate(isOurs)).toContain('Public Sans');
    expect([look, await axeViolations(page)]).toEqual([look, []]);
    expect(troubles).toEqual({ outside: [], faults: [] });
  }
});
