import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const fence = '```';
const maxPixels = 26 * 16;

/** Shows an answer with code in a language, and opens the preview of the code. */
async function openPreview(language: string, code: string, after = ''): Promise<TestPage> {
  fixture.upstream.script(eventsReply(...plainReply(`Here.\n\n${fence}${language}\n${code}\n${fence}\n\n${after}`)));
  const opened = await fixture.open('raw');
  await opened.sendMessage('Draw');
  await opened.readAnswer();
  await opened.page.getByRole('button', { name: 'Preview' }).click();
  await opened.page.frameLocator('iframe').locator('#content').waitFor();
  return opened;
}

const readHeight = async ({ page }: TestPage): Promise<number> => (await page.locator('.sheet-frame').boundingBox())?.height ?? 0;

describe('the preview of HTML or SVG', () => {
  it.each([
    ['a small drawing', 'svg', '<svg id="content" width="300" height="150"><rect width="300" height="150"/></svg>', 150, 190],
    ['a tiny drawing', 'svg', '<svg id="content" width="9" height="9"></svg>', 80, 80],
    ['a scaled drawing', 'svg', '<svg id="content" viewBox="0 0 10 10"><rect width="10" height="10"/></svg>', 380, maxPixels],
    ['a long page', 'html', `<div id="content">${'<p>Line</p>'.repeat(100)}</div>`, maxPixels, maxPixels],
    ['a short page', 'html', '<h1 id="content">Title</h1><p>Text</p>', 100, 160],
    ['a page as high as its window', 'html', '<body id="content" style="min-height: 100vh">Text</body>', maxPixels, maxPixels],
    [
      'absolutely positioned content',
      'html',
      '<p id="content" style="position: absolute"><br><br><br><br><br><br><br><br><br><br>Text</p>',
      210,
      290,
    ],
  ])('is as high as %s', async (_name, language, code, min, max) => {
    const opened = await openPreview(language, code);
    await expect.poll(() => readHeight(opened)).toBeGreaterThanOrEqual(min);
    await opened.page.waitForTimeout(300);
    expect(await readHeight(opened)).toBeGreaterThanOrEqual(min);
    expect(await readHeight(opened)).toBeLessThanOrEqual(max);
    expect(opened.issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows a scaled drawing completely', async () => {
    const opened = await openPreview(
      'svg',
      '<svg id="content" viewBox="0 0 10 10"><rect id="last" width="10" height="10"/></svg>',
    );
    await expect.poll(() => readHeight(opened)).toBeGreaterThan(300);
    const [frame, drawn] = await Promise.all([
      opened.page.locator('iframe').boundingBox(),
      opened.page.frameLocator('iframe').locator('#last').boundingBox(),
    ]);
    if (frame === null || drawn === null) throw new Error('Nothing is drawn.');
    expect(drawn.y + drawn.height).toBeLessThanOrEqual(frame.y + frame.height);
  });

  it('ignores messages that are not heights, and never moves the text that the user reads at the end of the chat', async () => {
    const after = 'A line to read.\n\n'.repeat(40);
    const opened = await openPreview('html', '<p id="content">Text</p>', `${after}The end.`);
    const { page, issues } = opened;
    await expect.poll(() => readHeight(opened)).toBe(80);
    const end = page.getByText('The end.');
    await end.scrollIntoViewIfNeeded();
    const before = (await end.boundingBox())?.y;
    const frame = page.frames().find((candidate) => candidate.url().endsWith('sheet.html'));
    const send = (script: string) => frame?.evaluate(script);
    await send(
      `for (const data of [NaN, -1, 0, '300', [300], { height: 300 }, null, { valueOf: 1 }]) parent.postMessage(data, '*')`,
    );
    await page.evaluate('postMessage(300, "*")');
    await page.waitForTimeout(200);
    expect(await readHeight(opened)).toBe(80);
    await send('for (const at of Array(20_000).keys()) parent.postMessage(at % 2 === 0 ? 200 : 100, "*")');
    await expect.poll(() => readHeight(opened)).toBe(200);
    await send('parent.postMessage(Infinity, "*")');
    await expect.poll(() => readHeight(opened)).toBe(maxPixels);
    await send('parent.postMessage(100, "*")');
    await page.waitForTimeout(200);
    expect(await readHeight(opened)).toBe(maxPixels);
    expect((await end.boundingBox())?.y).toBeCloseTo(before ?? 0, 0);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });
});
