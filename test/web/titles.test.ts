import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import type { Answering } from '#test/scripted-upstream.ts';
import { type PageHouse, startPageHouse } from './support.ts';

let house: PageHouse;
let asked: Answering[] = [];

beforeAll(async () => {
  house = await startPageHouse({ page: { titleModel: 'scripted' } });
  house.upstream.script(async (answering) => {
    asked.push(answering);
  });
});

afterAll(() => house[Symbol.asyncDispose]());

const answerWith = async (title: string): Promise<void> => {
  const answering = asked.at(-1);
  answering?.head();
  await answering?.events(delta({ role: 'assistant' }), text(title), finish());
  answering?.done();
};

describe('the title of a chat', () => {
  it('is requested once from the title model after the first answer', async () => {
    asked = [];
    const { page, say, answer, troubles } = await house.open('demo');
    await say('Count to 3');
    await answer();
    await expect.poll(() => asked.length).toBe(1);
    const body = asked[0]?.received.body as { messages: { content: string }[] } | undefined;
    expect(body?.messages.at(-1)?.content).toBe('Question:\nCount to 3\n\nAnswer:\n1 2 3');
    await answerWith('“Counting to three”.\nI hope that helps');
    await page.getByRole('link', { name: 'Counting to three', exact: true }).waitFor();
    await say('Count to 4');
    await answer();
    expect(asked.length).toBe(1);
    expect(troubles).toEqual({ outside: [], faults: [] });
  });

  it('stays as the user set it while the model was still working', async () => {
    asked = [];
    const { page, say, answer } = await house.open('demo');
    await say('Count to 3');
    await answer();
    await expect.poll(() => asked.length).toBe(1);
    await page.getByRole('link', { name: 'Count to 3', exact: true }).press('F2');
    await page.keyboard.type('Mine');
    await page.keyboard.press('Enter');
    const answered = page.waitForResponse(/v1\/chat\/completions/);
    await answerWith('Another');
    await (await answered).finished();
    await say('Count to 5');
    await answer();
    expect(await page.locator('.head a').allTextContents()).toEqual(['Mine']);
  });
});
