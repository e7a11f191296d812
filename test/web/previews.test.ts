import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, plainReply } from '#test/chunks.ts';
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

const readHeight = async ({ page }: TestPage): Promise<number> =>
  (await page.locator('.sandboxed-frame').boundingBox())?.height ?? 0;

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

  it('cannot be replaced by its content, and connects to no hosts', async () => {
    const hostile = [
      '<meta http-equiv="refresh" content="0, url=https://evil.example/"><base href="https://evil.example/">',
      '<link rel="preconnect" href="https://evil.example"><link rel="dns-prefetch" href="https://evil.example">',
      '<iframe srcdoc="<link rel=preconnect href=https://evil.example>"></iframe>',
      '<a id="content" href="https://evil.example/">Link</a><a href="./" target="_top">Top</a><a href="#end">Jump</a><a href="https://evil.example/" target="_blank">New</a>',
      '<form action="https://evil.example/" method="post" target="_top"><button>Send</button></form>',
      '<script>while (true) { }</script><img src="x" onerror="while (true) { }"><p style="margin-top: 900px" id="end">End</p>',
    ];
    const { page, issues } = await openPreview('html', hostile.join(''));
    const frame = page.frameLocator('iframe');
    for (const name of ['Link', 'Top', 'New', 'Jump']) await frame.getByRole('link', { name }).click();
    await frame.getByText('End', { exact: true }).waitFor();
    await frame.getByRole('button', { name: 'Send' }).click();
    await page.waitForTimeout(300);
    expect(await frame.locator('link, meta, base, iframe').count()).toBe(0);
    expect(await frame.locator('#content').count()).toBe(1);
    expect(page.context().pages().length).toBe(1);
    expect(page.url()).toContain(fixture.service.url);
    expect(issues.externalRequests).toEqual([]);
  });
});

/** Opens a chat whose next answer has a text and attachments. */
async function openAnswer(text: string, attachments: readonly object[] = []): Promise<TestPage> {
  const start = delta({ role: 'assistant', custom_content: { attachments: attachments as never } });
  fixture.upstream.script(eventsReply(start, ...plainReply(text).slice(1)));
  return fixture.open('raw');
}

describe('a diagram', () => {
  const diagram = `${fence}mermaid\ngraph LR\n  A --> B\n${fence}`;

  it('is drawn only after a click if it is long', async () => {
    const steps = Array.from({ length: 400 }, (_, at) => `  n${at} --> n${at + 1000}`).join('\n');
    const { page, ...opened } = await openAnswer(`${diagram}\n\n${fence}mermaid\ngraph LR\n${steps}\n${fence}`);
    await opened.sendMessage('Draw');
    await opened.readAnswer();
    await page.frameLocator('iframe').locator('svg').waitFor();
    expect(await page.locator('iframe').count()).toBe(1);
    const button = page.getByRole('button', { name: 'Preview' }).last();
    expect(await button.getAttribute('aria-pressed')).toBe('false');
    await button.click();
    // Mermaid rejects so many edges.
    await page.getByText('This diagram cannot be drawn because it has an error').waitFor();
  });

  it('is not drawn again without a click if the page ended while it drew the diagram', async () => {
    const { page, ...opened } = await openAnswer(diagram);
    await page.route(/diagram\.js/, (route) => route.abort());
    await opened.sendMessage('Draw');
    await opened.readAnswer();
    await page.locator('iframe').waitFor();
    await opened.reload();
    await page.getByText('A --> B').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    await page.unroute(/diagram\.js/);
    await page.getByRole('button', { name: 'Preview' }).click();
    const drawn = page.frameLocator('iframe').locator('svg');
    await expect.poll(async () => (await page.locator('.sandboxed-frame').boundingBox())?.height).toBeLessThan(200);
    const [frame, drawing] = await Promise.all([page.locator('.sandboxed-frame').boundingBox(), drawn.boundingBox()]);
    if (frame === null || drawing === null) throw new Error('Nothing is drawn.');
    expect(drawing.y + drawing.height).toBeLessThanOrEqual(frame.y + frame.height);
    await opened.reload();
    await page.frameLocator('iframe').locator('svg').waitFor();
  });
});

it('folds a picture if the page ended while it drew the picture', async () => {
  const data = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>';
  const { page, ...opened } = await openAnswer('Here.', [{ index: 0, type: 'image/svg+xml', title: 'Drawing', data }]);
  const hideLoads =
    "document.addEventListener('load', (event) => event.target.tagName === 'IMG' && event.stopImmediatePropagation(), true)";
  await page.evaluate(hideLoads);
  await opened.sendMessage('Draw');
  await opened.readAnswer();
  await page.getByRole('img', { name: 'Drawing' }).waitFor();
  await opened.reload();
  const button = page.getByRole('button', { name: 'Drawing', expanded: false });
  await button.click();
  await page.getByRole('img', { name: 'Drawing' }).waitFor();
  await opened.reload();
  await page.getByRole('img', { name: 'Drawing' }).waitFor();
});
