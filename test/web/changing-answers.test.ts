import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { upstreamsAreOdd } from '#test/described-answers.ts';
import { eventsReply, type Reply } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { type ChatsHouse, startChatsHouse } from './chats-house.ts';
import type { TestPage } from './support.ts';
import { looks, overhang, violations } from './violations.ts';

upstreamsAreOdd();

const clean = { outside: [], faults: [] };
const cutAnswer = (...said: string[]): Reply =>
  eventsReply(delta({ role: 'assistant' }), ...said.map((each) => text(each)), finish('length'), usage(7, 5));

let house: ChatsHouse;

beforeAll(async () => {
  house = await startChatsHouse({ keys: { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } } });
});

afterAll(() => house[Symbol.asyncDispose]());

function lastMessages(): unknown {
  return house.upstream.requests.at(-1)?.body.messages;
}

async function picture({ page }: TestPage, name: string): Promise<void> {
  if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
}

describe('an answer that reached its token limit', { timeout: 60_000 }, () => {
  it('continues as one answer each time the user presses Continue', async () => {
    house.upstream.script(
      cutAnswer('It was the best ', 'of times, it was the wor'),
      cutAnswer('times, it was ', 'the worst of times, it was the age of'),
      eventsReply(...plainReply('it was the age of wisdom.')),
    );
    const opened = await house.open('scripted');
    const { page, say, answer, troubles } = opened;
    await say('How does it begin?');
    expect(await answer()).toBe('It was the best of times, it was the wor');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByText('the worst of times, it was the age of').waitFor();
    expect(lastMessages()).toEqual([
      { role: 'user', content: 'How does it begin?' },
      { role: 'assistant', content: 'It was the best of times, it was the wor' },
      { role: 'user', content: expect.stringMatching(/cut off.*\n\nIt was the best of times, it was the wor$/s) },
    ]);
    await page.getByText('The answer reached its length limit').waitFor();
    await page.getByRole('button', { name: 'Continue', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('it was the age of wisdom.').waitFor();
    expect(await answer()).toBe('It was the best of times, it was the worst of times, it was the age of wisdom.');
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    // The page shows one answer, without the separate parts and the requests to continue.
    expect([await page.locator('.question').count(), await page.locator('.reply').count()]).toEqual([1, 1]);
    expect(await page.locator('.branches').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Continue', exact: true }).count()).toBe(0);
    await page.locator('.usage summary').getByText('36 tokens').waitFor();

    await opened.reload();
    expect(await answer()).toBe('It was the best of times, it was the worst of times, it was the age of wisdom.');
    expect(await page.locator('.branches').count()).toBe(0);
    house.upstream.script(eventsReply(...plainReply('Dickens.')));
    await say('Who wrote it?');
    await page.getByText('Dickens.').waitFor();
    expect(lastMessages()).toMatchObject([
      {},
      { content: expect.stringMatching(/^It was the best.*wisdom\.$/) },
      { role: 'user' },
    ]);
    expect(troubles).toEqual(clean);
  });

  it('continues after the user stopped it or the connection failed, and keeps its text', async () => {
    house.upstream.script(
      async (answering) => {
        answering.head();
        await answering.events(delta({ role: 'assistant' }), text('One two three'));
        answering.destroyConnection();
      },
      async (answering) => {
        answering.head();
        await answering.events(delta({ role: 'assistant' }), text('One two three four'));
      },
      eventsReply(...plainReply('One two three four five.')),
    );
    const { page, say } = await house.open('raw');
    await say('Count');
    await page.locator('.fault').waitFor();
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.locator('.reply .markdown').getByText('One two three four').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped this answer.').waitFor();
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.locator('.reply .markdown').getByText('One two three four five.', { exact: true }).waitFor();
    expect(await page.locator('.reply').count()).toBe(1);
  });
});

it('continues a truncated answer of the demo model until it is complete', async () => {
  const opened = await house.open('demo');
  const { page, say, answer } = opened;
  await page.getByRole('button', { name: 'Chat settings' }).click();
  await page.getByLabel('Maximum answer length').fill('25');
  await page.getByRole('button', { name: 'Apply' }).click();
  await say('Count to 30');
  const all = Array.from({ length: 30 }, (_, index) => index + 1).join(' ');
  let said = await answer();
  expect([all.startsWith(said.trim()), said.length < all.length]).toEqual([true, true]);
  for (let press = 0; press < 5 && said !== all; press += 1) {
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    const before = said;
    await expect.poll(async () => (said = await answer())).not.toBe(before);
  }
  expect(said).toBe(all);
});

describe('an edited answer', { timeout: 60_000 }, () => {
  it('replaces the original, is marked as edited, and keeps the original as another version', async () => {
    house.upstream.script(eventsReply(...plainReply('Paris is in **Spain**.')));
    const one = await house.open('scripted');
    const { page, say, answer, troubles } = one;
    await say('Where is Paris?');
    await answer();
    await page.getByRole('button', { name: 'Edit this answer' }).focus();
    await page.keyboard.press('Enter');
    const field = page.getByRole('textbox', { name: 'Edit this answer' });
    expect(await field.inputValue()).toBe('Paris is in **Spain**.');
    await page.getByText('The original answer stays as another version.').waitFor();
    for (const [look, { colorScheme = 'light', viewport = { width: 1280, height: 720 } }] of looks) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport as { width: number; height: number });
      expect([await violations(page), await overhang(page)]).toEqual([[], 0]);
      await picture(one, `edit-${look}`);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Edit this answer');
    await page.keyboard.press('Enter');
    await field.fill('Paris is in **France**.');
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toContain('\n');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Control+Enter');
    await page.locator('.reply-name').getByText('Edited').waitFor();
    expect(await answer()).toBe('Paris is in France.');
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    await page.getByRole('group', { name: 'Version 2 of 2' }).getByRole('button', { name: 'Earlier version' }).click();
    expect(await answer()).toBe('Paris is in Spain.');
    expect(await page.locator('.edited').count()).toBe(0);
    await page.getByRole('button', { name: 'Later version' }).click();
    await page.locator('.edited').waitFor();
    expect(await violations(page)).toEqual([]);

    house.upstream.script(eventsReply(...plainReply('Yes.')));
    await say('Sure?');
    await page.getByText('Yes.').waitFor();
    expect(lastMessages()).toMatchObject([{}, { role: 'assistant', content: 'Paris is in **France**.' }, { content: 'Sure?' }]);
    // Later messages stay with the version that they follow.
    await page.getByRole('button', { name: 'Edit this answer' }).first().click();
    await page.getByText('The messages after this answer stay with that version.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(troubles).toEqual(clean);
  });

  it('appears on another device, in a shared link, and in an exported file', async () => {
    house.upstream.script(eventsReply(...plainReply('Lyon.')));
    const one = await house.open('scripted');
    await one.say('The capital of France?');
    await one.answer();
    await one.page.getByRole('button', { name: 'Edit this answer' }).click();
    await one.page.getByRole('textbox', { name: 'Edit this answer' }).fill('Paris.');
    await one.page.getByRole('button', { name: 'Save edit' }).click();
    await one.page.locator('.edited').waitFor();

    const two = await house.openAt(`/#key=${callerKey}`);
    await two.page.locator('.head', { hasText: 'The capital of France?' }).getByRole('link').click();
    await two.page.locator('.reply .edited').waitFor();
    expect(await two.answer()).toBe('Paris.');
    await two.page.getByRole('group', { name: 'Version 2 of 2' }).waitFor();

    await two.page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await two.page.getByRole('button', { name: 'Create a link' }).click();
    const link = await two.page.getByRole('textbox', { name: 'Link' }).inputValue();
    await two.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    const other = await house.openAt('/#key=other-key');
    await other.page.locator('#message').waitFor();
    await other.page.evaluate(`location.hash = ${JSON.stringify(link.slice(link.indexOf('#')))}`);
    await other.page.locator('.reply .edited').waitFor();
    await other.page.getByText('Paris.').waitFor();

    await two.page.locator('.settings > summary').click();
    await two.page.getByRole('button', { name: 'Import and export…' }).click();
    const [download] = await Promise.all([
      two.page.waitForEvent('download'),
      two.page.getByRole('button', { name: 'Export all chats' }).click(),
    ]);
    const file = await download.path();
    const third = await house.openAt('/#key=other-key');
    await third.page.locator('#message').waitFor();
    await third.page.locator('.settings > summary').click();
    await third.page.getByRole('button', { name: 'Import and export…' }).click();
    await third.page.locator('dialog input[type=file]').setInputFiles(file);
    await third.page.getByText(/^\d new/).waitFor();
    await third.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await third.page.locator('.head', { hasText: 'The capital of France?' }).getByRole('link').click();
    await third.page.locator('.reply .edited').waitFor();
  });
});
