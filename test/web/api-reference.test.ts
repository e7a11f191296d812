import { expect, it } from 'vitest';
import { startProcess } from '#test/start-process.ts';
import { startBrowser } from './support.ts';
import { findAxeViolations, viewports } from './violations.ts';

it('has no accessibility violations in the API reference at any window size', async () => {
  await using service = await startProcess({ configuration: { models: { demo: { upstreams: [{ protocol: 'demo' }] } } } });
  const browser = await startBrowser();
  // The page is the same at every size, and loading it takes as long as checking it. So the test loads it once.
  const { page, issues } = await browser.open(`${service.url}/docs`, { bypassCSP: true });
  await page.locator('ul.endpoints[tabindex="0"]').first().waitFor({ state: 'attached' });
  const isOurs = `document.fonts.check('16px "Public Sans"') && getComputedStyle(document.querySelector('.endpoint')).fontFamily`;
  for (const [look, { viewport }] of viewports) {
    if (viewport != null) await page.setViewportSize(viewport);
    await expect.poll(() => page.evaluate(isOurs)).toContain('Public Sans');
    expect([look, await findAxeViolations(page)]).toEqual([look, []]);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  }
});
