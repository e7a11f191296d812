import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { startPageFixture } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: ChatsFixture;

const filler = 'Some words of an answer that continues for a while. '.repeat(20);
const turns = Array.from({ length: 40 }, (_, index) => ({
  ...{ id: `t${index}`, parent: index === 0 ? '' : `t${index - 1}`, atMs: index + 1 },
  ...(index % 2 === 0
    ? { kind: 'question', text: `Question ${index}` }
    : {
        kind: 'reply',
        text: index === 9 ? `${filler}\n\nA *Needle* in a haystack, a needle.` : filler,
      }),
}));
const otherReply = { kind: 'reply', id: 'other', parent: 't0', atMs: 1, text: 'Only here: thimble.' };
const olderQuestion = [
  { kind: 'question', id: 'o0', parent: 'other', atMs: 2, text: 'An older bodkin' },
  { kind: 'reply', id: 'o1', parent: 'o0', atMs: 3, text: 'Its answer: awl.' },
  { kind: 'question', id: 'n0', parent: 'other', atMs: 4, text: 'A newer question' },
];

beforeAll(async () => {
  fixture = await startChatsFixture();
  const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
  const body = { title: 'Straw', deployment: 'demo', updatedAtMs: Date.now(), turns: [otherReply, ...olderQuestion, ...turns] };
  await fixture.service.sendRequest({ method: 'POST', path: '/v1/chats/straw', headers, body });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const readHighlights = (page: Page, name = 'match') =>
  page.evaluate(`[...(CSS.highlights.get('${name}') ?? [])].map(String)`) as Promise<readonly string[]>;

/** Whether the current match is visible. */
const isInSight = `(() => {
  const [range] = CSS.highlights.get('current-match') ?? [];
  const view = document.querySelector('.thread').getBoundingClientRect();
  const place = range?.getBoundingClientRect();
  return place !== undefined && place.height > 0 && place.top >= view.top && place.bottom <= view.bottom;
})()`;

describe('a search', () => {
  it.each(viewports)(
    'shows an excerpt around the matches, and the keyboard opens the chat at the match: %s',
    async (look, options) => {
      const { page, issues } = await fixture.openAt(`/#key=${callerKey}`, options);
      await page.locator('#message').waitFor();
      if (look === 'phone') await page.getByRole('button', { name: 'Show chats' }).click();
      await page.getByRole('searchbox').fill('needle');
      const hit = page.locator('.conversation-item', { hasText: 'Straw' });
      await hit.locator('.excerpt mark').first().waitFor();
      expect(await hit.locator('.excerpt').textContent()).toMatch(/^….*A Needle in a haystack, a needle\.$/);
      expect(await hit.locator('mark').allTextContents()).toEqual(['Needle', 'needle']);
      expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);

      await page.getByRole('searchbox').press('ArrowDown');
      await page.keyboard.press('Enter');
      const bar = page.getByRole('search', { name: 'Found in this chat' });
      await bar.getByText('1 of 2').waitFor();
      await expect.poll(() => readHighlights(page)).toEqual(['Needle', 'needle']);
      await expect.poll(() => page.evaluate(isInSight)).toBe(true);
      expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
      await bar.getByRole('button', { name: 'Next match' }).click();
      await bar.getByText('2 of 2').waitFor();
      expect(await readHighlights(page, 'current-match')).toEqual(['needle']);
      await bar.getByRole('button', { name: 'Remove highlights' }).click();
      await bar.waitFor({ state: 'detached' });
      expect([await readHighlights(page), page.url().includes('find')]).toEqual([[], false]);
      expect(issues).toEqual({ externalRequests: [], errors: [] });
    },
  );

  it('highlights the matches after a reload, also if the turns load last', async () => {
    const { page } = await fixture.openAt('/nothing-here');
    const matchBar = page.waitForEvent('requestfinished', (request) => /match-bar-.*\.js/.test(request.url()));
    await page.route(/\/thread-.*\.js/, async (route) => {
      await matchBar;
      await setTimeout(300);
      await route.continue();
    });
    await page.evaluate(`sessionStorage.setItem('parley key', '${callerKey}')`);
    await page.goto(`${fixture.service.url}/#/chat/straw?find=needle`);
    await page.getByRole('search', { name: 'Found in this chat' }).getByText('1 of 2').waitFor();
    await expect.poll(() => readHighlights(page)).toEqual(['Needle', 'needle']);
  });

  it('opens the versions of questions and answers that contain the match', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    for (const word of ['awl', 'needle', 'bodkin', 'thimble']) {
      await page.getByRole('searchbox').fill(word);
      await page
        .locator('.conversation-item', { has: page.locator('mark', { hasText: word }) })
        .getByRole('link')
        .click();
      await expect.poll(() => readHighlights(page)).toContain(word);
      await expect.poll(() => page.evaluate(isInSight)).toBe(true);
    }
  });

  it('names and shows another version that matches after the user leaves it', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.goto(`${fixture.service.url}/#/chat/straw?find=thimble`);
    await expect.poll(() => readHighlights(page)).toEqual(['thimble']);
    await page.locator('.reply', { hasText: 'thimble' }).hover();
    await page.locator('.reply').first().getByRole('button', { name: 'Next version' }).click();
    const bar = page.getByRole('search', { name: 'Found in this chat' });
    await bar.getByText('in another version of a message').waitFor();
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await bar.getByRole('button', { name: 'Show it' }).click();
    await bar.getByText('1 of 1').waitFor();
    await expect.poll(() => page.evaluate(isInSight)).toBe(true);
  });

  it('shows the chosen versions again when the search ends, unless the user continued the found version', async () => {
    const { page, sendMessage, readAnswer } = await fixture.openAt(`/#key=${callerKey}`);
    // Answers far from the view are not drawn.
    const readQuestions = () => page.locator('.question-text').allTextContents();
    const bar = page.getByRole('search', { name: 'Found in this chat' });
    await page.locator('#message').waitFor();
    await page.evaluate("location.hash = '#/chat/straw'");
    await page.locator('.reply').first().waitFor();
    const initialQuestions = await readQuestions();
    const find = async (word: string) => {
      await page.evaluate(`location.hash = '#/chat/straw?find=${word}'`);
      await expect.poll(() => readHighlights(page)).toEqual([word]);
      expect(await readQuestions()).not.toEqual(initialQuestions);
    };
    await find('thimble');
    await bar.getByRole('button', { name: 'Remove highlights' }).click();
    await expect.poll(readQuestions).toEqual(initialQuestions);
    await find('thimble');
    await sendMessage('Continue here');
    await readAnswer();
    await bar.getByRole('button', { name: 'Remove highlights' }).click();
    await bar.waitFor({ state: 'detached' });
    expect(await readQuestions()).toContain('Continue here');
  });

  it('shows a notice if only the title matches', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.getByRole('searchbox').fill('straw');
    await page.locator('.conversation-item', { hasText: 'Straw' }).getByRole('link').click();
    await page.getByText('in the title or a file name').waitFor();
    expect(await page.locator('.excerpt').count()).toBe(0);
    await page.getByRole('searchbox').press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Clear the search' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
  });

  it('works for chats that are stored only in the browser', async () => {
    await using localFixture = await startPageFixture();
    const { page, sendMessage, readAnswer } = await localFixture.open('demo');
    await sendMessage('Tell me about a Needle');
    await readAnswer();
    await page.getByRole('link', { name: 'New chat' }).click();
    // A new chat clears the search.
    await page.locator('.starter').first().waitFor();
    await page.getByRole('searchbox').fill('need');
    const hit = page.locator('.conversation-item', { hasText: 'Tell me about a Needle' });
    await hit.locator('mark').first().waitFor();
    expect(await hit.locator('.excerpt').textContent()).toBe('Tell me about a Needle');
    await hit.getByRole('link').click();
    await page.getByRole('search', { name: 'Found in this chat' }).waitFor();
    await expect.poll(() => readHighlights(page)).toContain('Need');
  });
});
