import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, plainReply } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const attacks = [
  '<script>globalThis.hacked = 1</script>',
  '<img src=x onerror="globalThis.hacked = 2">',
  '<iframe src="https://evil.example"></iframe><svg onload="globalThis.hacked = 3">',
  '[click](javascript:globalThis.hacked=4) and [this]( java\u0001script:globalThis.hacked=5) and [that](data:text/html,<script>alert(1)</script>)',
  '![picture](https://evil.example/spy.png?secret=1) ![inline](data:image/svg+xml;base64,PHN2Zy8+)',
  '<https://fine.example/> [ref][r]\n\n[r]: vbscript:x',
  '$$\\href{javascript:alert(1)}{x} \\includegraphics{https://evil.example/a.png}$$',
  '<style>body { display: none }</style><a href="javascript:alert(1)">x</a>',
  '```html\n<script>globalThis.hacked = 6</script>\n```',
].join('\n\n');

async function openReply(attachments: readonly object[], text = 'Here.'): Promise<TestPage> {
  fixture.upstream.script(
    eventsReply(
      delta({ role: 'assistant', custom_content: { attachments: attachments as never } }),
      ...plainReply(text).slice(1),
    ),
  );
  const opened = await fixture.open('raw');
  await opened.sendMessage('Hello');
  await opened.readAnswer();
  return opened;
}

describe('hostile markdown', () => {
  it('runs no scripts, links only to web addresses, and loads no external content', async () => {
    const { page, issues } = await openReply([], attacks);
    await page.getByText('evil.example, not loaded').waitFor();
    await page.locator('.katex').waitFor();
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(await page.locator('.reply a[href]').evaluateAll((links) => links.map((link) => String(link)))).toEqual([
      'https://evil.example/spy.png?secret=1',
      'https://fine.example/',
    ]);
    expect(await page.locator('.reply :is(script, iframe, object, embed, style, form)').count()).toBe(0);
    expect(await page.locator('.reply img').count()).toBe(0);
    await page.getByText('<img src=x onerror=').waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });
});

describe('a formula that is too large to draw', () => {
  it.each([
    ['deep', `${'\\frac{1}{'.repeat(450)}x${'}'.repeat(450)}`],
    ['wide', `\\begin{matrix}${'&'.repeat(2000)}\\end{matrix}`],
  ])('is shown as its source if it is %s', async (_, source) => {
    const { page } = await openReply([], `$$${source}$$\n\n$x$`);
    await page.locator('.katex').first().waitFor();
    expect(await page.locator('.formula.block').textContent()).toBe(source);
  });
});

describe('a very long answer', () => {
  it('is drawn in steps', async () => {
    const { page } = await openReply([], `${`${'Some words.'.repeat(90)}\n\n`.repeat(1_100)}The end`);
    await page.getByText('The first 1,000,000 of 1,091,207 characters').waitFor();
    expect(await page.getByText('The end').count()).toBe(0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('The end').waitFor();
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  });

  it('has no line of code of more than 10,000 characters', async () => {
    const { page } = await openReply([], `\`\`\`\n${'a'.repeat(45_000)}\n\`\`\``);
    const lines = (await page.locator('.code-block code').textContent())?.split('\n') ?? [];
    expect(lines.map(({ length }) => length)).toEqual([10_000, 10_000, 10_000, 10_000, 5_000]);
  });
});

describe('attachments', () => {
  it('of HTML are shown in a sandboxed frame without an origin and run no scripts', async () => {
    const html =
      '<style>h1 { color: rgb(1, 2, 3) }</style><h1>Report</h1><script>document.body.textContent = "ran"</script>' +
      '<img src="https://evil.example/a.png" onerror="document.body.textContent = 1"><form action="https://evil.example"><button>Go</button></form>';
    const { page } = await openReply([{ index: 0, type: 'text/html', title: 'Report', data: html }]);
    await page.getByRole('button', { name: 'Report', exact: true }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Report' }).waitFor();
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('allow-scripts');
    expect(await frame.locator('body').textContent()).not.toMatch(/^(ran|1)$/);
    await frame.getByRole('button', { name: 'Go' }).click();
    await frame.getByRole('heading', { name: 'Report' }).waitFor();
    expect(await page.evaluate("[...document.querySelectorAll('iframe')][0].contentDocument")).toBeNull();
  });

  it.each(['application/pdf,text/html', 'image/png,text/html', 'audio/mpeg;x=,text/html'])(
    'of a type such as %s are offered only as downloads, so that no HTML runs in the origin of the page',
    async (type) => {
      const { page, issues } = await openReply([{ index: 0, type, title: 'Report', data: btoa('<h1>Trap</h1>') }]);
      await page.getByRole('button', { name: 'Download: Report' }).waitFor();
      expect(await page.getByRole('button', { name: 'Report', exact: true }).count()).toBe(0);
      expect(await page.locator('iframe, .attachment img, audio').count()).toBe(0);
      expect(issues).toEqual({ externalRequests: [], errors: [] });
    },
  );

  it('that claim to be PDF but are not are not shown', async () => {
    const { page } = await openReply([{ index: 0, type: 'application/pdf', title: 'Report', data: btoa('<h1>Trap</h1>') }]);
    await page.getByRole('button', { name: 'Report', exact: true }).click();
    await page.locator('.attachment .error-text').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
  });

  it('from external addresses are linked but not loaded', async () => {
    const { page, issues } = await openReply([
      { index: 0, type: 'image/png', title: 'Spy', url: 'https://evil.example/spy.png' },
      { index: 1, type: 'text/html', title: 'Trap', url: 'javascript:alert(1)' },
      { index: 2, title: 'Paper', data: 'Words.', reference_url: 'https://example.com/paper', reference_type: 'text/html' },
    ]);
    await page.getByRole('link', { name: 'Open the source at evil.example' }).waitFor();
    await page.getByRole('link', { name: 'Open the source at example.com' }).waitFor();
    expect(await page.locator('.attachment a').count()).toBe(2);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it.each([
    'files/../v1/user/keys',
    'files/../user/keys',
    'files/%2e%2e/user/keys',
    'files/b/%2E./../user/keys',
    'files/b/..\\..\\user/keys',
    'files/.\t./user/keys',
    'shared-chats/../user/keys',
  ])('never make the page request another path of the service: %j', async (url) => {
    fixture.upstream.script(
      eventsReply(
        delta({ role: 'assistant', custom_content: { attachments: [{ index: 0, type: 'text/plain', title: 'Notes', url }] } }),
        ...plainReply('Here.').slice(1),
      ),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    const forbiddenUrls: string[] = [];
    page.on('request', (request) => {
      if (/user\/keys/.test(request.url())) forbiddenUrls.push(request.url());
    });
    await sendMessage('Hello');
    await readAnswer();
    await page.getByText('Notes').first().click();
    await page.waitForTimeout(300);
    expect(forbiddenUrls).toEqual([]);
  });

  it('that are drawings with many references to their parts are drawn only after a click', async () => {
    const data = `<svg xmlns="http://www.w3.org/2000/svg"><rect id="a" width="9" height="9"/>${'<use href="#a"/>'.repeat(31)}</svg>`;
    const { page } = await openReply([{ index: 0, type: 'image/svg+xml', title: 'Drawing', data }]);
    const picture = page.getByRole('img', { name: 'Drawing' });
    await page.locator('.attachment-body').getByRole('button', { name: 'Preview' }).waitFor();
    expect(await picture.count()).toBe(0);
    await page.getByRole('button', { name: 'Preview' }).click();
    await picture.waitFor();
  });

  it('are shown according to their type', async () => {
    const { page, issues } = await openReply([
      { index: 0, type: 'text/csv', title: 'Cities', data: 'City,People\n"Paris, FR",2102650\n' },
      {
        index: 1,
        type: 'application/vnd.plotly.v1+json',
        title: 'Sums',
        data: '{"data":[{"type":"bar","x":["a","b"],"y":[1,2]}]}',
      },
      { index: 2, type: 'application/json', title: 'Facts', data: '{"fact": true}' },
      {
        index: 3,
        type: 'image/svg+xml',
        title: 'Drawing',
        data: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="globalThis.hacked=1"/>',
      },
      { index: 4, type: 'application/zip', title: 'Archive.zip', data: 'UEsFBg==' },
    ]);
    await page.getByRole('cell', { name: 'Paris, FR' }).waitFor();
    await page.getByRole('img', { name: 'Sums' }).waitFor();
    await page.getByText('"fact"').waitFor();
    await page.getByRole('img', { name: 'Drawing' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download: Archive.zip' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('Archive.zip');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });
});
