import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import type { UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let database: ResponseDatabase;
let fixture: PageFixture;
let answerings: UpstreamExchange[] = [];

beforeAll(async () => {
  database = await openResponses('SQLite');
  fixture = await startPageFixture({}, { responses: database.stores() });
  fixture.upstream.script(async (exchange) => {
    answerings.push(exchange);
  });
});

beforeEach(() => {
  answerings = [];
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Creates a background response through the API. Returns its ID and the scripted answer of the model. */
async function askInBackground(input: string, fields: object = {}) {
  const body = { model: 'scripted', input, background: true, ...fields };
  const { json } = await fixture.service.sendRequest({ path: '/v1/responses', headers: withKey(), body });
  await expect.poll(() => answerings.length).toBeGreaterThan(0);
  const exchange = answerings.pop() as UpstreamExchange;
  exchange.head();
  await exchange.events(delta({ role: 'assistant' }));
  return { id: String((json as { id: string }).id), exchange };
}

async function endAnswer(exchange: UpstreamExchange): Promise<void> {
  await exchange.events(finish());
  exchange.done();
}

function openAt(id = '', options = {}): Promise<TestPage> {
  return fixture.openAt(`/#key=${callerKey}`, options).then(async (opened) => {
    await opened.page.locator('#message').waitFor();
    await opened.page.evaluate(`location.hash = '#/background${id && `/${id}`}'`);
    return opened;
  });
}

const getState = (page: Page, words: string) => page.locator('.reply .state-mark', { hasText: words });

describe('background answers', () => {
  it('are listed for the user, stream to the page, and continue in a chat', async () => {
    const { exchange } = await askInBackground('Tell me of the sea', { instructions: 'Be short.' });
    const { page, sendMessage, issues } = await fixture.openAt(`/#key=${callerKey}`);
    await page.getByRole('link', { name: 'Background answers' }).click();
    const item = page.getByRole('link', { name: /Tell me of the sea/ });
    await item.getByText('In progress').waitFor();
    await item.click();
    await exchange.events(delta({ reasoning_content: 'They want it short.' }), text('It is '));
    await page.locator('.reply > .markdown', { hasText: 'It is' }).waitFor();
    await page.getByText('They want it short.').waitFor({ state: 'hidden' });
    await page.locator('.reply .thoughts summary').click();
    await page.getByText('They want it short.').waitFor();
    await exchange.events(text('wide.'));
    await page.locator('.reply > .markdown', { hasText: 'It is wide.' }).waitFor();
    await endAnswer(exchange);
    await getState(page, 'Done').waitFor();
    await page.reload();
    await getState(page, 'Done').waitFor();
    await page.getByRole('button', { name: 'Continue in a chat' }).click();
    await page.locator('.question-text', { hasText: 'Tell me of the sea' }).waitFor();
    await sendMessage('And how deep?');
    await expect.poll(() => answerings.length).toBe(1);
    expect(answerings[0]?.received.body.messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Tell me of the sea' },
      { role: 'assistant', content: 'It is wide.' },
      { role: 'user', content: 'And how deep?' },
    ]);
    await answerings[0]?.destroyConnection();
    expect(issues.externalRequests).toEqual([]);
  });

  it('stay in the list if new ones arrive after “Show more”', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `r${40 - index}`);
    const { page } = await openAt();
    await page.route(/v1\/user\/responses/, (route) => {
      const query = new URL(route.request().url()).searchParams;
      const start = ids.indexOf(query.get('after') ?? '') + 1;
      const pageIds = ids.slice(start, start + Number(query.get('limit')));
      const data = pageIds.map((id) => ({ id, status: 'in_progress', model: 'scripted', created_at: 0, asked: id }));
      return route.fulfill({ json: { data, has_more: start + data.length < ids.length, last_id: pageIds.at(-1) ?? null } });
    });
    await page.reload();
    const questions = page.locator('.answer-title');
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => questions.allTextContents()).toEqual(ids);
    ids.unshift('r41');
    await expect.poll(() => questions.first().textContent()).toBe('r41');
    expect(await questions.allTextContents()).toEqual(expect.arrayContaining(ids.slice(0, 40)));
  });

  it('resume after a lost connection without repeated text', async () => {
    const { id, exchange } = await askInBackground('Count');
    const { page } = await openAt();
    await exchange.events(text('one '));
    const streamUrls: string[] = [];
    await page.route(/stream=true/, async (route) => {
      if (streamUrls.push(route.request().url()) === 1) await route.abort('connectionfailed');
      else await route.fallback();
    });
    await page.evaluate(`location.hash = '#/background/${id}'`);
    await page.locator('.reply > .markdown', { hasText: 'one' }).waitFor();
    await exchange.events(text('two'));
    await endAnswer(exchange);
    await getState(page, 'Done').waitFor();
    expect((await page.locator('.reply > .markdown').textContent())?.trim()).toBe('one two');
    expect(streamUrls.length).toBe(2);
  });

  it('can be stopped and deleted', async () => {
    const { id, exchange } = await askInBackground('Answer without an end');
    const { page } = await openAt(id);
    await exchange.events(text('On '));
    await page.locator('.reply > .markdown', { hasText: 'On' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await getState(page, 'Stopped').waitFor();
    await expect.poll(() => exchange.received.isOpen).toBe(false);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.locator('.sheet:not(.answer-sheet)[aria-busy="false"]').waitFor();
    expect(await page.getByRole('link', { name: /Answer without an end/ }).count()).toBe(0);
    await page.evaluate(`location.hash = '#/background/${id}'`);
    await page.getByText('This answer was not found').waitFor();
  });

  it('show the error and the partial text if they failed', async () => {
    const { id, exchange } = await askInBackground('Break');
    await exchange.events(text('Half '));
    await exchange.destroyConnection();
    const { page } = await openAt(id);
    await getState(page, 'Failed').waitFor();
    await page.locator('.reply .error-text').waitFor();
    await page.locator('.reply > .markdown', { hasText: 'Half' }).waitFor();
  });

  it.each(viewports)('have no accessibility violations or overflow: %s', async (_name, options) => {
    const { id, exchange } = await askInBackground(
      'What is a very long question that does not fit into one line of a phone, or of most lists?',
    );
    await exchange.events(text('An answer with **words** and a list:\n\n- one\n- two'));
    const { page } = await openAt('', options);
    await page.getByText('In progress').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.evaluate(`location.hash = '#/background/${id}'`);
    await page.locator('.reply > .markdown li').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await endAnswer(exchange);
    await getState(page, 'Done').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
  });
});
