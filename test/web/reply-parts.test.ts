import { readFile } from 'node:fs/promises';
import type { Download, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StageDelta } from '#contract/chat/chunk.ts';
import { chunk, delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations, viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

async function openReply(...events: readonly object[]): Promise<TestPage> {
  return sendHello(await fixture.open('raw'), events);
}

async function sendHello(opened: TestPage, events: readonly object[]): Promise<TestPage> {
  fixture.upstream.script(eventsReply(delta({ role: 'assistant' }), ...events, finish()));
  await opened.sendMessage('Hello');
  await opened.readAnswer();
  return opened;
}

const questionIsInSight = `(() => {
  const { top, bottom } = document.querySelector('.question').getBoundingClientRect();
  const view = document.querySelector('.thread').getBoundingClientRect();
  return top >= view.top - 20 && bottom <= view.bottom;
})()`;

const stage = (part: StageDelta) => delta({ custom_content: { stages: [part] } });

async function readDownload(page: Page, button: Locator): Promise<{ name: string; content: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return { name: download.suggestedFilename(), content: await readFile(await (download as Download).path(), 'utf8') };
}

describe('markdown', () => {
  it('that is too wide fades out at the side with more content, and only there', async () => {
    const cells = (word: string): string => `|${` ${word.repeat(12)} |`.repeat(12)}\n`;
    const { page } = await openReply(text(`${cells('head')}|${'---|'.repeat(12)}\n${cells('cell')}\n| a |\n|---|\n| b |`));
    const fades = (at: number) =>
      page.evaluate(`['before', 'after'].map((side) => {
        const frame = document.querySelectorAll('.table-frame')[${at}];
        return getComputedStyle(frame).getPropertyValue('--fade-' + side);
      })`);
    await expect.poll(() => fades(0)).toEqual(['0px', '48px']);
    expect(await fades(1)).toEqual(['0px', '0px']);
    expect(await findViolations(page)).toEqual([]);
    const folder = process.env.PICTURES;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/wide.png` });
    await page
      .locator('.table-frame')
      .first()
      .evaluate((frame) => {
        frame.scrollLeft = frame.scrollWidth;
      });
    await expect.poll(() => fades(0)).toEqual(['48px', '0px']);
  });

  it('that is too wide has a shadow instead if the browser does not support the fade', async () => {
    const cells = (word: string): string => `|${` ${word.repeat(12)} |`.repeat(12)}\n`;
    const { page } = await openReply(text(`${cells('head')}|${'---|'.repeat(12)}\n${cells('cell')}`));
    const frame = page.locator('.table-frame');
    await frame.waitFor();
    // Applies the rules for browsers without scroll-driven animations and removes the rules for this browser.
    await page.evaluate(`for (const sheet of document.styleSheets) {
      for (const [at, rule] of [...sheet.cssRules].entries().toArray().reverse()) {
        if (!(rule instanceof CSSSupportsRule) || !rule.conditionText.includes('animation-timeline')) continue;
        const inner = [...rule.cssRules].map(({ cssText }) => cssText);
        sheet.deleteRule(at);
        if (rule.conditionText.startsWith('not')) for (const each of inner) sheet.insertRule(each, sheet.cssRules.length);
      }
    }`);
    const layers = await frame.evaluate((element: object) => {
      const { backgroundAttachment, maskImage } = (
        globalThis as never as { getComputedStyle(of: object): Record<string, string> }
      ).getComputedStyle(element);
      return [backgroundAttachment, maskImage];
    });
    expect(layers).toEqual(['local, local, scroll, scroll', 'none']);
    const folder = process.env.PICTURES;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/wide-shadow.png` });
    expect(await findViolations(page)).toEqual([]);
  });

  it('renders headings, emphasis, nested lists, tasks, tables, highlighted code, and formulas', async () => {
    const { page, issues } = await openReply(
      text(
        '## Sum\n\nThe **root** of $x^2$ is\n\n$$\\sqrt{x}$$\n\n1. one\n   - inner\n2. two\n\n- [x] done\n\n> said\n\n' +
          '| City | People |\n|---|--:|\n| Porto | 231800 |\n\n```python\ndef root(x): return x ** 0.5\n```\n\nAll for $5 and $6.',
      ),
    );
    const reply = page.locator('.reply');
    await reply.getByRole('heading', { name: 'Sum', level: 4 }).waitFor();
    await reply.locator('.hljs-keyword').first().waitFor();
    await reply.locator('.formula.block .katex-display').waitFor();
    expect(await reply.locator('.katex').count()).toBe(2);
    expect(await reply.locator('ol ul li').textContent()).toBe('inner');
    expect(await reply.getByRole('checkbox').isChecked()).toBe(true);
    expect(await reply.getByRole('cell', { name: '231800' }).getAttribute('class')).toBe('right');
    expect(await reply.locator('blockquote').textContent()).toBe('said');
    await reply.getByText('All for $5 and $6.').waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });
});

describe('stages', () => {
  it('collapse into one line at the end and show state, arguments, result, and nested stages', async () => {
    const { page } = await openReply(
      stage({ index: 0, name: 'Asking Weather', status: null, content: '**Arguments**\n\n```json\n{"city": "Porto"}\n```\n\n' }),
      stage({ index: 1, name: 'GET /forecast', status: null }),
      stage({ index: 1, status: 'completed' }),
      stage({ index: 0, content: '**Result**\n\nclear', status: 'completed' }),
      stage({ index: 2, name: 'Looking it up', status: 'failed' }),
      text('Clear.'),
    );
    const all = page.locator('.stages > summary');
    expect(await all.textContent()).toMatch(/^3 steps · 1 failed/);
    expect(await page.getByText('Asking Weather').isVisible()).toBe(false);
    await all.click();
    expect(await page.locator('.stages > ol > li').count()).toBe(2);
    expect(await page.locator('.stages ol ol .stage-name').textContent()).toBe('GET /forecast');
    await page.getByText('Asking Weather').click();
    await page.locator('.stage-body').getByText('"city"').waitFor();
    await page.locator('.stage-body').getByText('clear').waitFor();
    await page.locator('.stage', { hasText: 'Looking it up' }).getByText('failed').waitFor();
  });

  it('are expanded while they run and show their duration', async () => {
    const gate = Promise.withResolvers<void>();
    fixture.upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant' }), stage({ index: 0, name: 'Slow step', status: null }));
      await gate.promise;
      await exchange.events(stage({ index: 0, status: 'completed' }), text('Done.'), finish());
      exchange.done();
    });
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    await sendMessage('Hello');
    await page.locator('.stage', { hasText: 'Slow step' }).getByText('running').waitFor();
    await page.waitForTimeout(300);
    gate.resolve();
    expect(await readAnswer()).toBe('Done.');
    expect(await page.locator('.stages > summary').textContent()).toMatch(/^1 step · 0\.\d s|^1 step · \d/);
  });

  it('with a long text show its start and offer the full text to copy and to download', async () => {
    const content = 'row, value\n'.repeat(2000);
    const { page } = await openReply(stage({ index: 0, name: 'Reading a table', status: 'completed', content }));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.stages > summary').click();
    await page.getByText('Reading a table').click();
    const body = page.locator('.stage-body');
    await body.getByText('The first 8,000 of 22,000 characters').waitFor();
    await body.getByRole('button', { name: 'Copy' }).click();
    await body.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(content);
    expect(await readDownload(page, body.getByRole('button', { name: 'Download' }))).toEqual({
      name: 'Reading a table.md',
      content,
    });
  });
});

describe('attachments', () => {
  it('show a PDF on demand, and a link for an external reference', async () => {
    const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>').toString('base64');
    const { page } = await openReply(
      delta({
        custom_content: {
          attachments: [
            { index: 0, title: 'Contract', type: 'application/pdf', data: pdf },
            { index: 1, title: 'Handbook', reference_url: 'https://example.com/handbook' },
          ],
        },
      }),
    );
    const toggle = page.getByRole('button', { name: 'Contract', exact: true });
    expect(await toggle.getAttribute('aria-expanded')).toBe('false');
    await toggle.click();
    expect(await page.locator('iframe').getAttribute('src')).toMatch(/^blob:/);
    const link = page.getByRole('link', { name: 'Open the source at example.com' });
    expect(await link.getAttribute('href')).toBe('https://example.com/handbook');
    expect((await readDownload(page, page.getByRole('button', { name: 'Download: Contract' }))).name).toBe('Contract.pdf');
  });
});

it('wraps the title of an attachment to two lines on a phone and shows the full source below', async () => {
  const [title, reference_url] = [
    'The handbook for new people in the company, second edition',
    'shelf/of/those/who/are/new/here/handbook.md',
  ];
  const { page } = await openReply(delta({ custom_content: { attachments: [{ index: 0, title, data: 'Hi', reference_url }] } }));
  await page.setViewportSize({ width: 390, height: 800 });
  const overflowScript =
    '[...document.querySelectorAll(".attachment-name, .attachment-source")].map((each) => [each.scrollWidth - each.clientWidth, each.scrollHeight - each.clientHeight])';
  expect(await page.evaluate(overflowScript)).toEqual([
    [0, 0],
    [0, 0],
  ]);
  expect(await page.locator('.attachment-source').innerText()).toBe(reference_url);
});

describe('citations in an answer', () => {
  const passage = (index: number, title: string, data: string) => ({
    ...{ index, title, data, type: 'text/markdown' },
    reference_url: `files/public/${encodeURIComponent(title)}#page=${index + 1}`,
  });
  const openCited = (content: string, attachments: readonly object[]) =>
    openReply(text(content), delta({ custom_content: { attachments: attachments as never } }));

  it('open their source next to the chat with the keyboard and highlight the passage in its document', async () => {
    const { page, issues } = await openCited('Built by monks [3]. Lent to weavers [4, 3–4].', [
      passage(0, 'monks <b>.md', 'Built by monks.'),
      passage(1, 'weavers.md', 'Forty looms.'),
    ]);
    const document = `${'Before.\n'.repeat(200)}It was built. Built\nby monks. And sold.`;
    await page.route('**/v1/files/public/monks*', (route) => route.fulfill({ body: document }));
    await page.route('**/v1/files/public/weavers*', (route) => route.fulfill({ status: 403, json: {} }));
    expect(await page.locator('.sources li').allInnerTexts()).toEqual([
      expect.stringMatching(/^1\s+monks <b>\.md$/),
      expect.stringMatching(/^2\s+weavers\.md$/),
    ]);
    await page.getByText('Built by monks [1]. Lent to weavers [2, 1, 2].').waitFor();
    await page.getByRole('button', { name: 'Source 1: monks <b>.md' }).first().focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Source 1: monks <b>.md' });
    await panel.locator('.markdown').getByText('Built by monks.').waitFor();
    await panel.getByRole('heading', { name: 'In the document' }).waitFor();
    expect(await panel.locator('mark').textContent()).toBe('Built\nby monks.');
    await expect.poll(() => panel.locator('.source-document').evaluate(({ scrollTop }) => scrollTop > 100)).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    const [answerBox, panelBox] = await Promise.all([
      page.locator('.reply .markdown').first().boundingBox(),
      panel.boundingBox(),
    ]);
    expect((answerBox?.x ?? 0) + (answerBox?.width ?? 0)).toBeLessThanOrEqual(panelBox?.x ?? 0);
    await panel.getByRole('button', { name: '2 weavers.md' }).click();
    const other = page.getByRole('complementary', { name: 'Source 2: weavers.md' });
    await other.getByText('Forty looms.').waitFor();
    await other.getByText('You have no access to the whole file. Ask the owner of the application for it.').waitFor();
    expect(await other.getByRole('button', { name: 'Whole file' }).count()).toBe(0);
    await other.locator('.source-content:has(.markdown)').getByRole('button', { name: 'Download this passage' }).waitFor();
    expect(await page.locator('.source-document').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.locator('.source-panel').waitFor({ state: 'detached' });
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Source 1: monks <b>.md');
    await page.locator('.reply .markdown').getByRole('button', { name: 'Source 1: monks <b>.md' }).first().click();
    await panel.waitFor();
    await page.locator('.reply .markdown').getByRole('button', { name: 'Source 2: weavers.md' }).first().click();
    await other.waitFor();
    await other.getByRole('button', { name: 'Close' }).click();
    await page.locator('.source-panel').waitFor({ state: 'detached' });
    expect(await page.locator('.attachment').count()).toBe(0);
    await page.reload();
    await page.getByRole('button', { name: 'Source 2: weavers.md' }).first().waitFor();
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it.each(viewports)('have no accessibility violations in their source panel: %s', async (look, options) => {
    fixture.upstream.script(
      eventsReply(
        delta({ role: 'assistant' }),
        text('Three weeks [1]. Twice [2].'),
        delta({
          custom_content: { attachments: [passage(0, 'handbook.md', 'Three weeks.'), passage(1, 'rules.md', 'Twice.')] as never },
        }),
        finish(),
      ),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('raw', options);
    await page.route('**/v1/files/public/**', (route) =>
      route.fulfill({ body: `${'Before.\n'.repeat(60)}\n\nThree weeks. Twice. No more.${'\nBehind.'.repeat(60)}` }),
    );
    await sendMessage('How long?');
    await readAnswer();
    const folder = process.env.SHARE_PICTURES;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/sources-${look}.png` });
    // Makes the window so low that the panel itself scrolls.
    await page.setViewportSize({ width: page.viewportSize()?.width ?? 0, height: 420 });
    await page.getByRole('button', { name: 'Source 1: handbook.md' }).click();
    await page.locator('.source-document').waitFor();
    expect(await findViolations(page)).toEqual([]);
    // The passage and the close button are both visible.
    expect(await page.locator('.source-panel').evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    await expect.poll(() => page.locator('.source-document').evaluate(({ scrollTop }) => scrollTop > 100)).toBe(true);
    if (folder !== undefined) await page.screenshot({ path: `${folder}/source-${look}.png` });
  });

  it('stay plain text without a source and in code, links, and formulas', async () => {
    const content =
      'Known [1] but not [2]. `list[1]` $x[1]$ [see [1]](https://example.com) [1](javascript:alert(1)) <b>[1]</b>\n\n' +
      '```\nlist[1]\n```\n\n[1][1] ![x [1]](https://evil.example/[1]) [2024] [ [1\n\n[9]: https://example.com/[1]';
    const { page, issues } = await openCited(content, [passage(0, 'known.md', 'Known.')]);
    const marks = page.locator('.reply .markdown').first().locator('.citation');
    await marks.first().waitFor();
    expect(new Set(await marks.allTextContents())).toEqual(new Set(['[1]']));
    expect(await page.locator(':is(code, a, .katex, .inactive-link) .citation').count()).toBe(0);
    expect(await page.locator('.reply .markdown').first().textContent()).toContain('Known [1] but not [2].');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('stay plain text if no attachment names its source', async () => {
    const { page } = await openCited('The first [1].', [{ index: 0, title: 'Picture', type: 'text/plain', data: 'x' }]);
    await page.getByText('The first [1].').waitFor();
    expect(await page.locator('.citation').count()).toBe(0);
  });

  it('offer the full file of a passage or show an error if the file no longer exists', async () => {
    const { page } = await openCited('Known [1].', [passage(0, 'known <i>.md', 'Known.')]);
    // The panel reads the file before it offers the download.
    await page.route('**/v1/files/public/known%20%3Ci%3E.md', (route) => route.fulfill({ body: 'All that is known.' }), {
      times: 2,
    });
    await page.getByRole('button', { name: 'Source 1: known <i>.md' }).click();
    const fileButton = page.getByRole('button', { name: 'Whole file: known <i>.md' });
    await fileButton.waitFor();
    expect((await readDownload(page, fileButton)).content).toBe('All that is known.');
    const passageButton = page.getByRole('button', { name: 'Download this passage' });
    expect(await readDownload(page, passageButton)).toMatchObject({ name: 'known i passage.md', content: 'Known.' });
    await fileButton.click();
    await page.getByRole('alert').getByText('The file is no longer available.').waitFor();
  });
});

describe('controls', () => {
  it('show the chosen value after use and are disabled', async () => {
    const colour = { type: 'object', properties: { colour: { enum: ['red', 'green'] } }, required: ['colour'] };
    const offer = delta({
      custom_content: {
        controls: [
          { index: 0, label: 'Pick', schema: colour },
          { index: 1, label: 'Go on', schema: {} },
        ],
      },
    });
    fixture.upstream.script(
      eventsReply(delta({ role: 'assistant' }), offer, finish()),
      eventsReply(delta({ role: 'assistant' }), text('Green it is.'), offer, finish()),
      eventsReply(...plainReply('On we go.')),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    await sendMessage('Hello');
    await page.getByRole('button', { name: 'green' }).click();
    expect(await readAnswer()).toBe('Green it is.');
    const first = page.locator('.reply').first();
    expect(await first.getByRole('button', { name: 'green', pressed: true }).isDisabled()).toBe(true);
    expect(await first.getByRole('button', { pressed: true }).count()).toBe(1);
    expect(await first.getByRole('button', { name: 'red' }).isDisabled()).toBe(true);
    await page.locator('.reply').last().getByRole('button', { name: 'Go on' }).click();
    expect(await readAnswer()).toBe('On we go.');
    expect(await page.locator('.reply').nth(1).getByRole('button', { name: 'Go on', pressed: true }).isDisabled()).toBe(true);
    await page.reload();
    await first.getByRole('button', { name: 'green', pressed: true }).waitFor();
  });

  it('validate a form, keep the question visible, and show values by their field titles', async () => {
    const moreFields = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`more_${index}`, { type: 'string' }]));
    const size = { $ref: '#/$defs/Size', title: 'How large' };
    const schema = {
      ...{ type: 'object', required: ['mail', 'size'] },
      properties: { mail: { type: 'string', format: 'email', title: 'Write to' }, size, ...moreFields },
      $defs: { Size: { oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }] } },
    };
    const offer = delta({ custom_content: { controls: [{ index: 0, label: 'Order', schema }] } });
    fixture.upstream.script(
      eventsReply(delta({ role: 'assistant' }), text('Fill this in.'), offer, finish()),
      eventsReply(...plainReply('Thank you.')),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    await sendMessage('I want to order');
    await readAnswer();
    const form = page.locator('form.form');
    await form.getByLabel('More 11').waitFor();
    await expect.poll(() => page.evaluate(questionIsInSight)).toBe(true);
    await form.getByLabel('Write to').fill('nobody');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('Enter an email address.').waitFor();
    await form.getByLabel('Write to').fill('ada@example.com');
    await form.getByLabel('How large').selectOption({ label: 'Small' });
    await form.getByRole('button', { name: 'Send' }).click();
    expect(await readAnswer()).toBe('Thank you.');
    expect(await page.locator('.chosen').textContent()).toBe('Order · Write to: ada@example.com · How large: Small');
  });
});

describe('the usage of an answer', () => {
  it('shows tokens, and a cost for each model with a known price', async () => {
    const perModel = [
      { index: 0, model: 'scripted', name: 'scripted', prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      { index: 1, model: 'elsewhere', name: 'elsewhere', prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ];
    const { page } = await openReply(text('Hi'), usage(110, 55), chunk({ statistics: { usage_per_model: perModel } }));
    expect(await page.locator('.usage summary').textContent()).toMatch(/^165 tokens/);
    expect(await page.locator('.usage summary').textContent()).not.toContain('about');
    await page.locator('.usage summary').click();
    expect(await page.locator('.usage li').allTextContents()).toEqual([
      'Scripted 100 input, 50 output · about $0.20',
      'elsewhere 10 input, 5 output',
    ]);
  });

  it('shows numbers as the region of the browser writes them', async () => {
    const { page } = await sendHello(await fixture.open('raw', { locale: 'de-CH' }), [text('Hi'), usage(1100, 55)]);
    expect(await page.locator('.usage summary').textContent()).toMatch(/^1['’]155 Token/);
  });

  it('shows the total cost if every price is known', async () => {
    fixture.upstream.script(eventsReply(...plainReply('Hi')));
    const { page, sendMessage, readAnswer } = await fixture.open('scripted');
    await sendMessage('Hello');
    await readAnswer();
    expect(await page.locator('.usage summary').textContent()).toMatch(/^12 tokens · about \$0\.017/);
  });
});

describe('an export', () => {
  it('contains the chat as JSON or Markdown, and an answer can be copied', async () => {
    const { page } = await openReply(text('The *answer*.'));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.reply').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('The *answer*.');
    const menu = page.getByLabel('Download this chat');
    await menu.click();
    const json = await readDownload(page, page.getByRole('button', { name: 'As JSON' }));
    expect(JSON.parse(json.content)).toMatchObject({
      format: 'parley-conversation',
      version: 1,
      title: 'Hello',
      deployment: 'raw',
    });
    await menu.click();
    const markdown = await readDownload(page, page.getByRole('button', { name: 'As Markdown' }));
    expect(markdown).toEqual({ name: 'Hello.md', content: '# Hello\n\n## You\n\nHello\n\n## Raw\n\nThe *answer*.\n' });
  });
});

it('wraps and downloads code and enlarges an image', async () => {
  const code = `print("${'long '.repeat(100)}")`;
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const picture = { index: 0, type: 'image/png', title: 'A dot', data: png };
  const { page, issues } = await openReply(
    text(`\`\`\`python\n${code}\n\`\`\``),
    delta({ custom_content: { attachments: [picture] } }),
  );
  const pre = page.locator('.code-block pre');
  const overhangs =
    'document.querySelector(".code-block pre").scrollWidth > document.querySelector(".code-block pre").clientWidth';
  await pre.waitFor();
  await expect.poll(() => page.evaluate(overhangs)).toBe(true);
  await page.getByRole('button', { name: 'Wrap long lines' }).click();
  await expect.poll(() => page.evaluate(overhangs)).toBe(false);
  const saved = await readDownload(page, page.locator('.code-header').getByRole('button', { name: 'Download' }));
  expect(saved).toEqual({ name: 'code.py', content: code });
  await page.getByRole('button', { name: 'Enlarge A dot' }).click();
  const dialog = page.getByRole('dialog', { name: 'A dot' });
  await dialog.getByRole('img').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
