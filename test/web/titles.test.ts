import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import type { UpstreamExchange } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;
let answerings: UpstreamExchange[] = [];

beforeAll(async () => {
  fixture = await startPageFixture({ page: { titleModel: 'scripted' } });
  fixture.upstream.script(async (exchange) => {
    answerings.push(exchange);
  });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const answerWith = async (title: string): Promise<void> => {
  const exchange = answerings.at(-1);
  exchange?.head();
  await exchange?.events(delta({ role: 'assistant' }), text(title), finish());
  exchange?.done();
};

describe('the title of a chat', () => {
  it('is requested once from the title model after the first answer', async () => {
    answerings = [];
    const { page, sendMessage, readAnswer, issues } = await fixture.open('demo');
    await sendMessage('Count to 3');
    await readAnswer();
    await expect.poll(() => answerings.length).toBe(1);
    const body = answerings[0]?.received.body as { messages: { content: string }[] } | undefined;
    expect(body?.messages.at(-1)?.content).toBe('Question:\nCount to 3\n\nAnswer:\n1 2 3');
    await answerWith('“Counting to three”.\nI hope that helps');
    await page.getByRole('link', { name: 'Counting to three', exact: true }).waitFor();
    await sendMessage('Count to 4');
    await readAnswer();
    expect(answerings.length).toBe(1);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('stays as the user set it while the model was still working', async () => {
    answerings = [];
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Count to 3');
    await readAnswer();
    await expect.poll(() => answerings.length).toBe(1);
    await page.getByRole('link', { name: 'Count to 3', exact: true }).press('F2');
    await page.keyboard.type('Mine');
    await page.keyboard.press('Enter');
    const answered = page.waitForResponse(/v1\/chat\/completions/);
    await answerWith('Another');
    await (await answered).finished();
    await sendMessage('Count to 5');
    await readAnswer();
    expect(await page.locator('.conversation-item a').allTextContents()).toEqual(['Mine']);
  });
});
