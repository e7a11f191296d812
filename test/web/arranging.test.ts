import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type ChatsHouse, startChatsHouse } from './chats-house.ts';
import { looks, violations } from './violations.ts';

let house: ChatsHouse;

beforeAll(async () => {
  house = await startChatsHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

interface Listed {
  readonly id: string;
  readonly title: string;
  readonly pinned: boolean;
  readonly tags?: readonly string[];
}

const stored = async (archived = false): Promise<readonly Listed[]> => {
  const path = `/v1/chats?archived=${archived}`;
  const { json } = await house.service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
  return (json as { data: Listed[] }).data;
};

const chat = (title: string, body: object = {}) =>
  house.service.sendRequest({
    method: 'POST',
    path: `/v1/chats/${title.replaceAll(' ', '-')}`,
    headers: { 'api-key': callerKey, 'content-type': 'application/json' },
    body: {
      ...{ title, deployment: 'demo', updatedAtMs: Date.now(), ...body },
      turns: [{ id: 'q', parent: '', kind: 'question', atMs: 1, text: `Tell me about ${title}`, attachments: [] }],
    },
  });

const choose = async (page: Page, title: string, choice: string) => {
  await page.locator('.head', { hasText: title }).hover();
  await page.getByRole('button', { name: `More for “${title}”` }).click();
  await page.locator('.head-choices').getByRole('button', { name: choice, exact: true }).click();
};

const group = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describe('the chat list', () => {
  it('syncs renamed and pinned chats across devices, including an open chat', async () => {
    await chat('Boats');
    await chat('Trains', { updatedAtMs: Date.now() - 40 * 86_400_000 });
    const one = await house.openAt(`/#key=${callerKey}`);
    const two = await house.openAt(`/#key=${callerKey}`);
    await two.page.getByRole('link', { name: 'Boats' }).click();
    await two.page.locator('.question', { hasText: 'Tell me about Boats' }).waitFor();

    await one.page.getByRole('link', { name: 'Boats' }).press('F2');
    await one.page.getByRole('textbox', { name: 'New name of “Boats”' }).fill('Ships');
    await one.page.keyboard.press('Enter');
    await one.page.getByRole('link', { name: 'Ships' }).waitFor();
    await choose(one.page, 'Trains', 'Pin');
    await group(one.page, 'Pinned').getByRole('link', { name: 'Trains' }).waitFor();
    await expect
      .poll(async () => (await stored()).map(({ title, pinned }) => [title, pinned]))
      .toEqual([
        ['Trains', true],
        ['Ships', false],
      ]);
    await two.page.getByRole('link', { name: 'Ships' }).waitFor();
    await group(two.page, 'Pinned').getByRole('link', { name: 'Trains' }).waitFor();
    await two.say('Go on');
    await two.answer();
    await expect.poll(async () => (await stored()).map(({ title }) => title)).toEqual(['Trains', 'Ships']);
    await choose(two.page, 'Trains', 'Unpin');
    await expect.poll(async () => (await stored()).map(({ pinned }) => pinned)).toEqual([false, false]);
    expect([one.troubles, two.troubles]).toEqual(Array(2).fill({ outside: [], faults: [] }));
  });

  it('lists archived chats separately and lets the user find and unarchive them', async () => {
    await chat('Old plans');
    const { page } = await house.openAt(`/#key=${callerKey}`);
    await choose(page, 'Old plans', 'Archive');
    await page.locator('.head', { hasText: 'Old plans' }).waitFor({ state: 'detached' });
    await expect.poll(async () => (await stored(true)).map(({ title }) => title)).toEqual(['Old plans']);
    const there = await house.openAt(`/#key=${callerKey}`);
    await there.page.getByRole('button', { name: 'Archived', pressed: false }).waitFor();
    expect(await there.page.locator('.head', { hasText: 'Old plans' }).count()).toBe(0);
    await there.page.getByRole('searchbox').fill('tell old plans');
    await group(there.page, 'Archived').getByRole('link', { name: 'Old plans' }).waitFor();
    await there.page.getByRole('searchbox').fill('');
    await there.page.getByRole('button', { name: 'Archived' }).click();
    await choose(there.page, 'Old plans', 'Unarchive');
    await group(there.page, 'Today').getByRole('link', { name: 'Old plans' }).waitFor();
    expect(await there.page.getByRole('button', { name: 'Archived' }).count()).toBe(0);
    await expect.poll(async () => (await stored(true)).length).toBe(0);
  });

  it('filters by tags that were added with the keyboard only', async () => {
    await chat('Gardens');
    await chat('Bread');
    const { page } = await house.openAt(`/#key=${callerKey}`);
    await page.getByRole('link', { name: 'Gardens' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Tags of “Gardens”' }).waitFor();
    await page.getByRole('textbox', { name: 'New tag' }).focus();
    await page.keyboard.type('home');
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: 'home', checked: true }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('More for “Gardens”');
    await page.getByRole('button', { name: 'home' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Bread' }).waitFor({ state: 'detached' });
    expect(await page.locator('.head a').allTextContents()).toEqual(['Gardens']);
    await expect.poll(async () => (await stored()).find(({ id }) => id === 'Gardens')?.tags).toEqual(['home']);
  });

  it('shows new and opened chats despite an earlier search', async () => {
    await chat('Gardens');
    await chat('Bread');
    const { page, say, answer } = await house.openAt(`/#key=${callerKey}`);
    const heads = page.locator('.head a');
    const search = page.getByRole('searchbox');
    await page.getByRole('link', { name: 'Bread' }).waitFor();
    await search.fill('garden');
    await page.getByRole('link', { name: 'Bread' }).waitFor({ state: 'detached' });
    // Opening a result keeps the search, so that the user can open the next result.
    await page.getByRole('link', { name: 'Gardens' }).click();
    await page.locator('.question', { hasText: 'Tell me about Gardens' }).waitFor();
    expect([await search.inputValue(), await heads.allTextContents()]).toEqual(['garden', ['GardensTell me about Gardens']]);
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.locator('.starter').first().waitFor();
    expect(await search.inputValue()).toBe('');
    await search.fill('garden');
    await page.getByRole('link', { name: 'Bread' }).waitFor({ state: 'detached' });
    await say('Where am I?');
    await answer();
    await page.getByRole('link', { name: 'Where am I?' }).waitFor();
    expect([await search.inputValue(), await heads.first().textContent()]).toEqual(['', 'Where am I?']);
  });

  it.each(looks)('has no accessibility violations with open menus and dialogs: %s', async (_look, options) => {
    await chat('Gardens', { tags: ['home'] });
    const { page } = await house.openAt(`/#key=${callerKey}`, options);
    await page.locator('.starter').first().waitFor();
    const drawer = page.getByRole('button', { name: 'Show chats' });
    const isPhone = await drawer.isVisible();
    if (isPhone) await drawer.click();
    await page.locator('.head', { hasText: 'Gardens' }).hover();
    await page.getByRole('button', { name: 'More for “Gardens”' }).click();
    await page.locator('.head-choices').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('.head-choices').waitFor({ state: 'detached' });
    expect(await page.locator('.sidebar.open').count()).toBe(isPhone ? 1 : 0);
    await choose(page, 'Gardens', 'Tags…');
    await page.getByRole('dialog').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
