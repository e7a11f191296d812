import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

async function answerWith(text: string, question = 'Hello'): Promise<TestPage> {
  fixture.upstream.script(eventsReply(...plainReply(text)));
  const opened = await fixture.open('raw');
  await opened.sendMessage(question);
  await opened.readAnswer();
  return opened;
}

function readDirections(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`[...document.querySelectorAll('${selector}')].map((each) => getComputedStyle(each).direction)`);
}

const arabic = 'مرحبا بالعالم';

describe('text in a chat', () => {
  it('gets its direction from the first letter of each block', async () => {
    const text = [
      `# ${arabic}`,
      `${arabic} (\`a(b)\`).`,
      'An English paragraph.',
      `- ${arabic}\n- English`,
      `> ${arabic}`,
      `1. ${arabic}\n\n   English below.`,
      `| ${arabic} | b |\n|---|---|\n| ${arabic} | English |\n| 12 | 3 |`,
    ].join('\n\n');
    const { page } = await answerWith(text, arabic);
    const directions = Object.fromEntries(
      await Promise.all(
        ['h3', '.part > p', 'ul > li', 'blockquote', 'ol > li', 'table', 'th', 'td', 'code'].map(async (selector) => [
          selector,
          await readDirections(page, `.reply .markdown ${selector}`),
        ]),
      ),
    );
    expect(directions).toEqual({
      h3: ['rtl'],
      '.part > p': ['rtl', 'ltr'],
      'ul > li': ['rtl', 'ltr'],
      blockquote: ['rtl'],
      'ol > li': ['rtl'],
      table: ['rtl'],
      th: ['rtl', 'ltr'],
      td: ['rtl', 'ltr', 'rtl', 'rtl'],
      code: ['ltr'],
    });
    expect(await readDirections(page, '.question-text')).toEqual(['rtl']);
  });

  it('gets its direction in the message field and in the editor of a question', async () => {
    const { page } = await answerWith('Yes.', arabic);
    expect(await readDirections(page, '#message')).toEqual(['ltr']);
    await page.locator('#message').fill(arabic);
    expect(await readDirections(page, '#message')).toEqual(['rtl']);
    await page.locator('.edit-question').click();
    expect(await readDirections(page, '.editor textarea')).toEqual(['rtl']);
  });

  it('shows Chinese bold text that ends in full-width punctuation', async () => {
    const { page } = await answerWith('**中文（带括号）。**这句子');
    expect(await page.locator('.reply .markdown strong').allTextContents()).toEqual(['中文（带括号）。']);
  });
});

describe('the Enter that confirms a candidate of an input method', () => {
  it.each([
    ['before compositionend', { isComposing: true, keyCode: 229 }],
    ['after compositionend, as in Safari', { isComposing: false, keyCode: 229 }],
  ])('does not send the message %s', async (_when, fields) => {
    const { page } = await fixture.open('raw');
    const requestCount = fixture.upstream.requests.length;
    const message = page.locator('#message');
    await message.fill('にほん');
    await message.dispatchEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...fields });
    expect(await message.inputValue()).toBe('にほん');
    expect(await page.locator('.question').count()).toBe(0);
    fixture.upstream.script(eventsReply(...plainReply('Yes.')));
    await message.press('Enter');
    await page.locator('.reply', { hasText: 'Yes.' }).waitFor();
    expect(await page.locator('.question').count()).toBe(1);
    expect(fixture.upstream.requests.length).toBe(requestCount + 1);
  });
});
