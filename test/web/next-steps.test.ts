import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainCompletion, plainReply } from '#test/chunks.ts';
import { errorReply, eventsReply, jsonReply } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { openLongConversation } from './long-conversation.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

describe('a call of a client tool', () => {
  it('offers a field for its result, which continues the answer', async () => {
    const call = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
    fixture.upstream.script(
      eventsReply(delta({ role: 'assistant', content: '', function_call: call }), finish('function_call')),
      eventsReply(...plainReply('Take a hat.')),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    const start = fixture.upstream.requests.length;
    await sendMessage('What do I need?');
    await page.getByText('Run it in your own program').waitFor();
    await page.getByLabel('Result of get_weather').fill('Sunny');
    expect(await findViolations(page)).toEqual([]);
    await page.locator('.tool-result').getByRole('button', { name: 'Send' }).click();
    expect(await readAnswer()).toBe('Take a hat.');
    const { body } = await fixture.upstream.request(start + 1);
    expect((body.messages as unknown[]).at(-1)).toMatchObject({ role: 'function', name: 'get_weather', content: 'Sunny' });
    await page.getByText('The model wants to use the tool get_weather.').waitFor();
    expect(await page.getByText('Run it in your own program').count()).toBe(0);
  });

  it('offers a field for each of several tool calls', async () => {
    const tool_calls = ['Oslo', 'Rome'].map((city, index) => ({
      ...{ index, id: `call_${city}`, type: 'function' as const },
      function: { name: `weather_in_${city}`, arguments: '{}' },
    }));
    fixture.upstream.script(
      eventsReply(delta({ role: 'assistant', tool_calls }), finish('tool_calls')),
      eventsReply(...plainReply('Take a hat.')),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('scripted');
    const start = fixture.upstream.requests.length;
    await sendMessage('What do I need?');
    await page.getByLabel('Result of weather_in_Oslo').fill('Snow');
    const send = page.locator('.tool-result').getByRole('button', { name: 'Send' });
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel('Result of weather_in_Rome').fill('Sun');
    expect(await findViolations(page)).toEqual([]);
    await send.click();
    expect(await readAnswer()).toBe('Take a hat.');
    const { body } = await fixture.upstream.request(start + 1);
    expect(body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_Oslo' }, { id: 'call_Rome' }] },
      { role: 'tool', tool_call_id: 'call_Oslo', content: 'Snow' },
      { role: 'tool', tool_call_id: 'call_Rome', content: 'Sun' },
    ]);
    const results = page.locator('.question').last();
    expect(await results.locator('.chosen').allInnerTexts()).toEqual(['Result of weather_in_Oslo', 'Result of weather_in_Rome']);
  });
});

describe('a chat that is too long for the model', () => {
  it('continues without its oldest messages, or in a new chat with a summary', async () => {
    const tooLong = errorReply(400, {}, { code: 'context_length_exceeded' });
    fixture.upstream.script(tooLong, eventsReply(...plainReply('Shorter.')), tooLong, jsonReply(plainCompletion('We counted.')));
    const opened = await fixture.open('scripted');
    const { page, sendMessage, readAnswer } = opened;
    const start = fixture.upstream.requests.length;
    await openLongConversation(opened, { deployment: 'scripted', messages: 8, getText: (at) => `Answer ${at}` });
    await page.getByText('Answer 7').waitFor();
    await sendMessage('Next');
    await page.getByRole('button', { name: 'Leave out the oldest messages' }).click();
    expect(await readAnswer()).toBe('Shorter.');
    await page.getByText('The oldest messages of this chat were left out.').waitFor();
    const { body } = await fixture.upstream.request(start + 1);
    const messages = body.messages as readonly { readonly role: string }[];
    expect([messages.length, messages[0]?.role]).toEqual([5, 'user']);
    await sendMessage('And then?');
    await page.getByRole('button', { name: 'Continue in a new chat with a summary' }).click();
    await page.locator('.starter').first().waitFor();
    expect(await page.locator('#message').inputValue()).toBe('Summary of the earlier chat:\n\nWe counted.\n\nAnd then?');
  });
});

describe('a link to an inaccessible application', () => {
  it('is described in words of the page, with names', async () => {
    const { page } = await fixture.openAt(`/?#/build/applications/Abc123/guide`);
    await page.getByLabel('Key').fill(callerKey);
    await page.keyboard.press('Enter');
    await page.getByText('it belongs to another user').waitFor();
    expect(await page.locator('main').textContent()).not.toContain('GET /v1/bucket');
    await page.evaluate("location.hash = '#/?with=applications%2FAbc123%2Ftravel%20guide'");
    await page.getByText('The link asks for travel guide,').waitFor();
  });
});

describe('the form of an application', () => {
  it('looks the same before and after a chat with a form', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    const measure = async (): Promise<unknown> => {
      await page.evaluate("location.hash = '#/build/new'");
      await page.locator('.builder-section').first().waitFor();
      return page.locator('.builder-section .field').nth(1).boundingBox();
    };
    const before = await measure();
    await page.evaluate("location.hash = '#/?with=demo'");
    await sendMessage('Show me controls');
    await readAnswer();
    await page.locator('.control .form').first().waitFor();
    expect(await measure()).toEqual(before);
  });
});

describe('a long question', () => {
  it('is folded until the user unfolds it', async () => {
    const { page, sendMessage } = await fixture.open('demo');
    await sendMessage(`Count to 2\n${'A line.\n'.repeat(30)}`);
    const text = page.locator('.question-text');
    const isCut = () =>
      text.evaluate((each: { scrollHeight: number; clientHeight: number }) => each.scrollHeight > each.clientHeight);
    await text.waitFor();
    expect(await isCut()).toBe(true);
    await page.getByRole('button', { name: 'Show all' }).click();
    expect(await isCut()).toBe(false);
  });
});
