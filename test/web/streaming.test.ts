import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { countDrawnElements, waitUntilComplete } from './drawn-elements.ts';
import { openLongConversation } from './long-conversation.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const section = (number: number): string =>
  `## Section ${number}\n\nSome *words* with \`code\`, a [link](https://example.com) and **weight**, ${'and more of them '.repeat(12)}.\n\n` +
  `\`\`\`ts\n${'const answer = question.map((each) => each + 1);\n'.repeat(8)}\`\`\`\n\n` +
  `| a | b |\n|---|---|\n${'| one | two |\n'.repeat(6)}\n- first\n- second\n\n`;

const mixed = Array.from({ length: 125 }, (_, number) => section(number)).join('');
const shapes: readonly (readonly [string, string])[] = [
  ['mixed', mixed],
  ['one paragraph', 'Word after word without any end '.repeat(3200)],
  ['one block of code', `\`\`\`ts\n${'const answer = question.map((each) => each + 1);\n'.repeat(2050)}\`\`\``],
  ['one list', '- an item of a list that continues\n'.repeat(3100)],
  ['one table', `| a | b |\n|---|---|\n${'| one cell | another cell |\n'.repeat(3700)}`],
  ['citations', 'It was built by monks in 1283 [1], and the weavers came later with their forty looms [2].\n\n'.repeat(1100)],
  ['formulas', `${'The sum $a^2 + b^2 = c^2$ holds for all of them, as everybody knows who ever drew one.\n\n'.repeat(1150)}`],
];

const attachments = [0, 1].map((index) => ({ index, title: 'mill.md', data: 'A passage.', reference_url: 'files/b/mill.md' }));

/** Streams an answer in 250 pieces, many times faster than a model. */
function script(markdown: string): void {
  const chars = Math.ceil(markdown.length / 250);
  fixture.upstream.script(async (exchange) => {
    exchange.head();
    await exchange.events(delta({ role: 'assistant' }));
    for (let index = 0; index < markdown.length; index += chars) {
      await exchange.events(text(markdown.slice(index, index + chars)));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await exchange.events(delta({ custom_content: { attachments } }), finish());
    exchange.done();
  });
}

/** Script that returns the state of the rendered answer and the number of visible parts that are not rendered yet. */
const stateScript = `(() => {
  const reply = document.querySelector('.reply .markdown');
  const view = document.querySelector('.thread').getBoundingClientRect();
  const isInSight = (place) => place.bottom > view.top && place.top < view.bottom;
  return {
    elements: reply.querySelectorAll('*').length,
    chars: reply.textContent.replace(/\\s+/g, '').length,
    undrawn: [...reply.querySelectorAll('.plain')].filter((part) => isInSight(part.getBoundingClientRect())).length,
  };
})()`;

interface State {
  readonly elements: number;
  readonly chars: number;
  readonly undrawn: number;
}

async function waitUntilRendered(page: Page): Promise<void> {
  await expect.poll(async () => ((await page.evaluate(stateScript)) as State).undrawn).toBe(0);
}

/**
 * Maximum number of elements in one frame. A frame is limited by time, so a faster browser renders more in it. A complete answer
 * has at least ten times as many.
 */
const maxInFrame = 6000;

it.each(shapes)('renders a large answer once, in small steps per frame: %s', async (shape, markdown) => {
  const { page, sendMessage, issues } = await fixture.open('raw');
  script(markdown);
  const drawn = await countDrawnElements(page, async () => {
    await sendMessage('Tell me a lot');
    await waitUntilComplete(page);
  });
  const { elements, chars } = (await page.evaluate(stateScript)) as State;
  const isShownInPart = shape === 'one table';
  expect(chars).toBeGreaterThan(isShownInPart ? 1000 : markdown.replace(/[\s|`#*[\]-]+/g, '').length * 0.6);
  expect(drawn.mostInFrame).toBeLessThan(maxInFrame);
  expect(drawn.added).toBeLessThan(1.5 * elements + 500);
  expect(drawn.elsewhere).toBe(0);
  for (const share of [0, 0.4, 1]) {
    await page.evaluate(`(() => { const t = document.querySelector('.thread'); t.scrollTop = t.scrollHeight * ${share}; })()`);
    await waitUntilRendered(page);
  }
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('loads a stored answer of a megabyte completely and renders only its visible part', async () => {
  const opened = await fixture.open('raw');
  const { page } = opened;
  await openLongConversation(opened, { deployment: 'raw', messages: 2, getText: () => mixed.repeat(10) });
  await waitUntilComplete(page);
  await waitUntilRendered(page);
  const { elements, chars } = (await page.evaluate(stateScript)) as State;
  expect(chars).toBeGreaterThan(700_000);
  expect(elements).toBeLessThan(5000);
});

it('shows the remaining rows of a long table on demand', async () => {
  const { page, sendMessage } = await fixture.open('raw');
  script(`| a | b |\n|---|---|\n${'| one cell | another cell |\n'.repeat(300)}`);
  await sendMessage('Tell me all');
  await page.getByRole('button', { name: 'Show 200 more rows' }).click();
  await expect.poll(() => page.locator('.reply tbody tr').count()).toBe(300);
});

it('renders only the new answer in a chat of 200 messages', async () => {
  const opened = await fixture.open('raw');
  const { page, sendMessage, issues } = opened;
  await openLongConversation(opened, { deployment: 'raw', messages: 200, getText: (at) => section(at) + section(at + 1) });
  await page.getByRole('heading', { name: 'Section 200' }).waitFor();
  // The actions of answers are loaded once, after the answers.
  await page.locator('article .actions').first().waitFor({ state: 'attached' });
  await waitUntilRendered(page);
  script(mixed.slice(0, 30_000));
  const drawn = await countDrawnElements(page, async () => {
    await sendMessage('Tell me more');
    await waitUntilComplete(page);
  });
  expect(drawn.added).toBeGreaterThan(500);
  expect(drawn.elsewhere).toBe(0);
  expect(await page.locator('article').count()).toBe(202);
  expect(await page.locator('article').first().locator('.plain').count()).toBe(0);
  expect(await page.locator('.reply h4').count()).toBeLessThan(150);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
