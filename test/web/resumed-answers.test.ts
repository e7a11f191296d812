import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { delta, finish, text, usage } from '#test/chunks.ts';
import type { UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { type PageFront, startPageFront } from './page-front.ts';
import type { TestPage } from './support.ts';
import { findViolations } from './violations.ts';

let fixture: ChatsFixture;
let front: PageFront;
/** The answers in progress by question. Each streams "<question>:" and stays open. */
let openAnswers: Map<string, UpstreamExchange>;
/** The number of requests that the upstream received before the test. */
let earlierRequests: number;

beforeAll(async () => {
  fixture = await startChatsFixture();
  front = await startPageFront(fixture.service.url);
});

afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

beforeEach(() => {
  openAnswers = new Map();
  earlierRequests = fixture.upstream.requests.length;
  fixture.upstream.script(async (exchange) => {
    const { messages } = exchange.received.body as { messages: { content: string }[] };
    const question = messages.at(-1)?.content ?? '';
    openAnswers.set(question, exchange);
    exchange.head();
    const stage = { index: 0, name: 'Reads the shelf', status: null };
    await exchange.events(delta({ role: 'assistant', custom_content: { stages: [stage] } }), text(`${question}: `));
  });
});

afterEach(() => front.comeBack());

async function endAnswer(question: string): Promise<void> {
  const exchange = openAnswers.get(question);
  const stages = [{ index: 0, status: 'completed' as const }];
  const attachments = [{ index: 0, title: 'shelf.md', type: 'text/markdown', data: 'Books' }];
  await exchange?.events(delta({ custom_content: { stages, attachments } }), text('done.'), finish(), usage(7, 5));
  exchange?.done();
}

const getReply = (page: Page) => page.locator('.reply > .markdown');
const getStopButton = (page: Page) => page.getByRole('button', { name: 'Stop', exact: true });
const countRequests = (question: string): number =>
  fixture.upstream.requests.slice(earlierRequests).filter((each) => each.text.includes(question)).length;

/** Returns the IDs of the answers in the stored chats, and their states. */
async function listReplies(): Promise<readonly { readonly id: string; readonly state: string; readonly text: string }[]> {
  const read = async (path: string) =>
    (await fixture.service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } })).json as object;
  const { data } = (await read('/v1/chats')) as { data: { id: string }[] };
  const chats = await Promise.all(data.map(({ id }) => read(`/v1/chats/${id}`)));
  return chats.flatMap((chat) => (chat as { turns: { kind: string }[] }).turns).filter(({ kind }) => kind === 'reply') as never;
}

/** Returns the ID of the only answer that is in progress in the stored chats. */
async function findRunning(): Promise<string> {
  const list = async () => (await listReplies()).filter(({ state }) => state === 'running');
  await expect.poll(list).toMatchObject([{ text: '' }]);
  return (await list())[0]?.id ?? '';
}

async function getRunStatus(id: string, method = 'GET'): Promise<number> {
  const { status } = await fixture.service.sendRequest({
    method,
    path: `/v1/chat-runs/${id}`,
    headers: { 'api-key': callerKey },
  });
  return status;
}

/** Sends a question and waits for the start of its answer. */
async function ask({ page, sendMessage }: TestPage, question: string): Promise<void> {
  await sendMessage(question);
  await getReply(page).last().getByText(`${question}:`).waitFor();
}

describe('an answer in progress', { timeout: 60_000 }, () => {
  it('continues after a reload, is complete once, and is then deleted from the runs', async () => {
    const opened = await fixture.open('raw');
    const { page, readAnswer, issues } = opened;
    await ask(opened, 'First');
    await opened.reload();
    await getReply(page).getByText('First:').waitFor();
    await getStopButton(page).waitFor();
    await page.locator('.reply').getByText('Reads the shelf').waitFor();
    const isTypefaceApplied = `[...document.fonts].some(({ family }) => family.includes('Public Sans'))`;
    await expect.poll(() => page.evaluate(isTypefaceApplied), { timeout: 10_000 }).toBe(true);
    const running = await findRunning();
    await endAnswer('First');
    expect(await readAnswer()).toBe('First: done.');
    await page.locator('.reply').getByText('shelf.md').waitFor();
    expect(countRequests('First')).toBe(1);
    await expect.poll(listReplies).toMatchObject([{ id: running, state: 'done', text: 'First: done.' }]);
    await expect.poll(() => getRunStatus(running)).toBe(404);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows its own duration if it ended long before the user came back', async () => {
    const opened = await fixture.open('raw');
    const { page } = opened;
    await ask(opened, 'Away');
    const chat = page.url();
    await page.goto(`${fixture.service.url}/health`);
    await endAnswer('Away');
    await page.clock.setSystemTime(Date.now() + 3_600_000);
    await page.goto(chat);
    expect(await opened.readAnswer()).toBe('Away: done.');
    await page.locator('.reply .stages').getByText('1 step').waitFor();
    expect(await page.locator('.reply .stages > summary').textContent()).toBe('1 step');
    expect(await page.locator('.reply .usage > summary').textContent()).toMatch(/^12 tokens · \d{1,2}(\.\d)? s$/);
  });

  it('is shown and stopped on another device and in another tab', async () => {
    const first = await fixture.open('raw');
    await ask(first, 'Second');
    const tab = await first.page.context().newPage();
    await tab.goto(first.page.url());
    const other = await fixture.openAt(`/#key=${callerKey}`);
    await other.page.locator('.conversation-item', { hasText: 'Second' }).getByRole('link').click({ timeout: 15_000 });
    for (const page of [tab, other.page]) await getReply(page).getByText('Second:').waitFor();
    await openAnswers.get('Second')?.events(text('more'));
    for (const page of [first.page, tab, other.page]) await getReply(page).getByText('Second: more').waitFor();
    await getStopButton(other.page).click();
    for (const page of [first.page, tab, other.page]) {
      await page.locator('.reply').getByText('You stopped this answer.').waitFor();
      expect(await getReply(page).textContent()).toBe('Second: more');
      await getStopButton(page).waitFor({ state: 'detached' });
    }
    expect(await openAnswers.get('Second')?.received.closed).toMatchObject({ early: true });
    expect(countRequests('Second')).toBe(1);
    expect([first.issues, other.issues]).toEqual(Array(2).fill({ externalRequests: [], errors: [] }));
  });

  it('appears in another tab that shows its chat when it starts', async () => {
    const opened = await fixture.open('raw');
    await ask(opened, 'Third');
    await endAnswer('Third');
    await opened.readAnswer();
    const tab = await opened.page.context().newPage();
    await tab.goto(opened.page.url());
    await getReply(tab).getByText('Third: done.').waitFor();
    await ask(opened, 'Fourth');
    await getReply(tab).last().getByText('Fourth:').waitFor();
    await opened.page.close();
    await endAnswer('Fourth');
    await getReply(tab).last().getByText('Fourth: done.').waitFor();
    expect(await tab.locator('.reply').count()).toBe(2);
    expect(countRequests('Fourth')).toBe(1);
  });

  it('continues after the network was lost for a moment', async () => {
    const opened = await fixture.browser.open(`${front.url}/#key=${callerKey}`);
    const { page, readAnswer, issues } = opened;
    await page.locator('.starter').first().waitFor();
    await page.evaluate(`location.hash = '#/?with=raw'`);
    await page.locator('.picker', { hasText: 'Raw' }).waitFor();
    await ask(opened, 'Fifth');
    front.goAway();
    await page.locator('.reply').getByText('Connection lost. The answer continues').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await openAnswers.get('Fifth')?.events(text('during '));
    front.comeBack();
    await getReply(page).getByText('Fifth: during').waitFor();
    await page.locator('.reply').getByText('Connection lost.').waitFor({ state: 'detached' });
    await endAnswer('Fifth');
    expect(await readAnswer()).toBe('Fifth: during done.');
    expect(countRequests('Fifth')).toBe(1);
    // On a busy machine, the network was lost before all parts of the page were loaded. They are loaded later.
    const isUnexpected = (error: string) => !error.includes('A part of the page could not be loaded.');
    expect({ ...issues, errors: issues.errors.filter(isUnexpected) }).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows an error of its node after the earlier text, and asks again for a run that is lost', async () => {
    const opened = await fixture.open('raw');
    const { page } = opened;
    await ask(opened, 'Sixth');
    const running = await findRunning();
    const error = { type: 'server_error', code: 'node_lost', message: 'The node stopped.', param: null };
    const events = [
      { ...text('Sixth: a part'), sequence_number: 0 },
      { error, sequence_number: 1 },
      { object: 'chat.run', status: 'failed' },
    ];
    const body = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
    const path = `**/v1/chat-runs/${running}`;
    await page.route(path, (route) =>
      route.request().method() === 'GET' ? route.fulfill({ contentType: 'text/event-stream', body }) : route.abort(),
    );
    await opened.reload();
    await page.locator('.answer-error').getByText('The service stopped while it was answering.').waitFor();
    expect(await getReply(page).textContent()).toBe('Sixth: a part');
    await page.unroute(path);
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await page.locator('.answer-error').waitFor({ state: 'detached' });
    await getReply(page).getByText('Sixth:').waitFor();
    const again = await findRunning();
    await page.goto(`${fixture.service.url}/health`);
    expect(await getRunStatus(again, 'DELETE')).toBe(204);
    await page.goBack();
    await page.locator('.reply').getByText('This answer is no longer available. You can ask again.').waitFor({ timeout: 20_000 });
    expect(await page.getByRole('img', { name: 'Answer in progress' }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Ask again', exact: true }).click();
    await getReply(page).getByText('Sixth:').waitFor();
    await endAnswer('Sixth');
    expect(await opened.readAnswer()).toBe('Sixth: done.');
  });
});
