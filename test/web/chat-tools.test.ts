import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text, usage } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture({}, {});
  fixture.service.reload({
    models: {
      priced: {
        displayName: 'Priced',
        upstreams: [{ endpoint: fixture.upstream.endpoint }],
        pricing: { prompt: 0.001, completion: 0.002 },
        limits: { maxPromptTokens: 2000 },
      },
      demo: { displayName: 'Demo', upstreams: [{ protocol: 'demo' }] },
    },
  });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const answer = (content: string, prompt: number) =>
  eventsReply(delta({ role: 'assistant' }), text(content), finish(), usage(prompt, 50));

const timeOpacity = "getComputedStyle(document.querySelector('.reply time')).opacity";

const distanceToEnd = `(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(
  document.querySelector('.thread'),
)`;

const choose = async (page: Page, title: string, name: string): Promise<void> => {
  await page.getByRole('button', { name: `More for “${title}”` }).click();
  await page.getByRole('button', { name, exact: true }).click();
};

describe('a chat', () => {
  it.each(viewports)('shows times, the used context, and the cost of all its answers: %s', async (_name, options) => {
    fixture.upstream.script(answer('One.', 450), answer('Two.', 1700));
    const { page, sendMessage, readAnswer, issues } = await fixture.open('priced', options);
    await sendMessage('First');
    await readAnswer();
    const amounts = page.getByRole('group', { name: 'Tokens and cost of this chat' });
    await amounts.getByText('25% of the maximum length').waitFor();
    await amounts.getByText('about $0.55 in total').waitFor();
    await sendMessage('Second');
    await amounts.getByText('88% of the maximum length').waitFor();
    await amounts.getByText('about $2.35 in total').waitFor();
    const times = page.locator('.turns time');
    expect(await times.allTextContents()).toEqual(Array(4).fill(expect.stringMatching(/^\d\d:\d\d$/)));
    const reply = page.locator('.reply').first();
    await reply.hover();
    await expect.poll(() => page.evaluate(timeOpacity)).toBe('1');
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it.each(viewports)('stays at the end of a long answer when the used context appears: %s', async (_name, options) => {
    const lines = Array.from({ length: 60 }, (_, index) => `Line ${index}`).join('\n\n');
    fixture.upstream.script(answer(lines, 450));
    const { page, sendMessage, readAnswer } = await fixture.open('priced', options);
    await sendMessage('Long');
    await readAnswer();
    await page.getByText('25% of the maximum length').waitFor();
    await expect.poll(() => page.evaluate(distanceToEnd), { timeout: 5000 }).toBeLessThan(1);
  });

  it('hides the amounts if the context and the price are unknown', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Hello');
    await readAnswer();
    await page.locator('.usage summary').waitFor();
    expect(await page.getByText('of the maximum length').count()).toBe(0);
    expect(await page.getByText('in total').count()).toBe(0);
  });

  it('continues in a new chat from an answer, and the original chat stays', async () => {
    fixture.upstream.script(answer('One.', 10), answer('Two.', 10), answer('Other.', 10));
    const { page, sendMessage, readAnswer } = await fixture.open('priced');
    await sendMessage('Forked');
    await readAnswer();
    await sendMessage('Second');
    await page.locator('.reply').nth(1).getByText('Two.').waitFor();
    await page.locator('.reply').first().getByRole('button', { name: 'Continue in a new chat from here' }).click();
    await page.locator('.question').nth(1).waitFor({ state: 'detached' });
    expect(await page.locator('.question-text').allTextContents()).toEqual(['Forked']);
    await sendMessage('Another way');
    await page.locator('.reply').nth(1).getByText('Other.').waitFor();
    const sentMessages = fixture.upstream.requests.at(-1)?.body.messages as { content: string }[];
    expect(sentMessages.map(({ content }) => content)).toEqual(['Forked', 'One.', 'Another way']);
    const items = page.locator('.conversation-item a', { hasText: 'Forked' });
    expect((await items.allInnerTexts()).map((title) => title.trim())).toEqual(['Forked (copy)', 'Forked']);
    await items.nth(1).click();
    await page.locator('.question-text').getByText('Second').waitFor();
  });

  it('can be shared and downloaded from the list while another one is open', async () => {
    fixture.upstream.script(answer('One.', 10));
    const { page, sendMessage, readAnswer } = await fixture.open('priced');
    await sendMessage('Listed');
    await readAnswer();
    await page.getByRole('link', { name: 'New chat' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), choose(page, 'Listed', 'Download as Markdown')]);
    expect(download.suggestedFilename()).toBe('Listed.md');
    expect(await readFile(await download.path(), 'utf8')).toBe('# Listed\n\n## You\n\nListed\n\n## Priced\n\nOne.\n');
    await choose(page, 'Listed', 'Share…');
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => dialog.getByRole('textbox').inputValue()).toContain('#/shared/');
  });
});

describe('the sidebar', () => {
  it('can be hidden, stays hidden after a reload, and moves the focus to the button that shows it', async () => {
    const { page, reload } = await fixture.open('demo');
    await page.getByRole('button', { name: 'Hide chats' }).click();
    const show = page.getByRole('button', { name: 'Show chats' });
    await show.waitFor();
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Show chats');
    expect(await findViolations(page)).toEqual([]);
    await reload();
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    await show.click();
    await page.getByRole('navigation').waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Hide chats');
  });
});
