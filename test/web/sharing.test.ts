import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import type { TestPage } from './support.ts';
import { findViolations, viewports } from './violations.ts';

const keys = { [callerKey]: { project: 'test', roles: ['boss'] }, 'other-key': { project: 'other' } };
const models = { boss: { displayName: 'Boss Model', userRoles: ['boss'], upstreams: [{ protocol: 'demo' }] } };
const noIssues = { externalRequests: [], errors: [] };

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture({ keys, models }, { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } });
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Creates a link to the open chat. Returns the hash of the link. */
async function share({ page }: TestPage): Promise<string> {
  await page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
  await page.getByLabel('The link works for').selectOption('7 days');
  await page.getByRole('button', { name: 'Create a link' }).click();
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
  return link.slice(link.indexOf('#'));
}

/** Opens a link as another user. */
async function openAsOtherUser(hash: string, options = {}): Promise<TestPage> {
  const opened = await fixture.openAt('/#key=other-key', options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  return opened;
}

it('the dialog for links keeps its size after the usage page was open', async () => {
  const { page, sendMessage, readAnswer } = await fixture.open('demo');
  await sendMessage('Hello');
  await readAnswer();
  await page.evaluate("location.hash = '#/usage'");
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
  await page.goBack();
  await page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
  const { height = 0 } = (await page.getByRole('dialog').boundingBox()) ?? {};
  expect(height).toBeGreaterThan(150);
});

describe('a shared chat', () => {
  it('shows another user a snapshot with its files, continues in a copy, and disappears after the link is removed', async () => {
    const owner = await fixture.open('demo');
    const content = Buffer.from(`A note of the owner. ${'x'.repeat(600 * 1024)}`);
    await owner.page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: content });
    await owner.page.getByText('note.txt').first().waitFor();
    await owner.sendMessage('Keep this in mind');
    await owner.readAnswer();
    const hash = await share(owner);
    await owner.page.getByText('up to your message “Keep this in mind” and its answer.').waitFor();
    await owner.page.getByText(/^Shows the chat as of .*\d\. Works until .*\d\.$/).waitFor();
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await owner.sendMessage('Said later');
    await owner.readAnswer();

    const reader = await openAsOtherUser(hash);
    await reader.page.getByText('Shared by test on').waitFor();
    expect(await reader.page.locator('.question').allTextContents()).toEqual([expect.stringContaining('Keep this in mind')]);
    await reader.page.getByRole('button', { name: 'note.txt', expanded: false }).click();
    await reader.page.getByText('A note of the owner.').first().waitFor();
    // A view that opens first must load all of its styles.
    const readStyle = (selector: string) =>
      reader.page.evaluate(`({ ...getComputedStyle(document.querySelector('${selector}')) })`);
    expect(await readStyle('.turns')).toMatchObject({ maxWidth: expect.stringMatching(/px$/) });
    expect(await readStyle('.question')).toMatchObject({ display: 'grid' });
    expect(await reader.page.locator('#message').count()).toBe(0);
    await reader.page.getByRole('button', { name: 'Continue in a copy' }).click();
    await reader.page.locator('#message').waitFor();
    await reader.sendMessage('Mine now');
    await reader.readAnswer();
    expect(await reader.page.locator('.question').count()).toBe(2);

    const openDialog = () => owner.page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await openDialog();
    await owner.page.getByRole('dialog').getByRole('link', { name: 'Keep this in mind' }).click();
    await owner.page.getByRole('dialog').waitFor({ state: 'detached' });
    await openDialog();
    await owner.page.getByRole('button', { name: /^Remove the link/ }).click();
    const question = owner.page.getByRole('dialog', { name: /^Remove the link to .*It then no longer works for anyone\./ });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await owner.page.getByRole('button', { name: /^Remove the link/ }).click();
    await question.getByRole('button', { name: 'Remove' }).click();
    await owner.page.getByRole('button', { name: /^Remove the link/ }).waitFor({ state: 'detached' });
    await owner.page
      .getByRole('status')
      .getByText(/is removed and no longer works\./)
      .waitFor();
    const laterReader = await openAsOtherUser(hash);
    await laterReader.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    // The copy has its own copy of the file.
    await reader.page.getByRole('button', { name: 'note.txt', expanded: false }).click();
    await reader.page.getByText('A note of the owner.').first().waitFor();
    expect(await owner.page.locator('.question').count()).toBe(2);
    expect([owner.issues, reader.issues, laterReader.issues]).toEqual([noIssues, noIssues, noIssues]);
  });

  it('is missing from the list in the settings if it has no link', async () => {
    const { page } = await fixture.open('demo');
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Shared links' }).click();
    await page.getByText('You are not sharing any chats.').waitFor();
  });

  it.each(viewports)('has exactly the content that the dialog describes: %s', async (look, options) => {
    const owner = await fixture.open('demo', options);
    const { page } = owner;
    await owner.sendMessage(`First ${look}`);
    await owner.readAnswer();
    const [, id = ''] = /chat\/([\w-]+)/.exec(page.url()) ?? [];
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    const path = `/v1/chats/${id}`;
    const readChat = async () =>
      (await fixture.service.sendRequest({ method: 'GET', path, headers })).json as { turns?: { id: string; state?: string }[] };
    const findAnswer = async () => (await readChat()).turns?.find(({ state }) => state === 'done')?.id;
    await expect.poll(findAnswer).toBeDefined();
    let previews = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/shared-files')) previews += 1;
    });
    await page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await page.getByText(`up to your message “First ${look}” and its answer.`).waitFor();
    const create = page.getByRole('button', { name: 'Create a link', disabled: false });
    await create.waitFor();
    const turn = {
      id: 'elsewhere',
      parent: await findAnswer(),
      kind: 'question',
      atMs: Date.now(),
      text: 'From elsewhere',
      attachments: [],
    };
    const body = { ...(await readChat()), updatedAtMs: Date.now(), turns: [turn], shown: {} };
    expect((await fixture.service.sendRequest({ method: 'POST', path, headers, body })).status).toBe(200);
    await create.click();
    await page.getByText('The chat has changed since this dialog opened.').waitFor();
    await page.getByText('up to your message “From elsewhere” and its answer.').waitFor();
    await create.waitFor();
    expect([await page.getByRole('textbox', { name: 'Link' }).count(), await findViolations(page)]).toEqual([0, []]);
    await takeScreenshot(owner, `changed ${look}`);
    await create.click();
    await page.getByRole('textbox', { name: 'Link' }).waitFor();
    expect([await page.getByText('The chat has changed').count(), previews]).toEqual([0, 2]);
    expect(owner.issues).toEqual(noIssues);
  });

  it('has the title of the visible first question', async () => {
    const owner = await fixture.open('demo');
    await owner.sendMessage('Private first words');
    await owner.readAnswer();
    await owner.page.locator('.edit-question').click();
    await owner.page.locator('.editor textarea').fill('Public words');
    await owner.page.locator('.editor button.primary').click();
    await owner.page.locator('.question', { hasText: 'Public words' }).waitFor();
    await owner.readAnswer();
    const hash = await share(owner);
    await owner.page.getByText('The title of the link is “Public words”.').waitFor();
    const reader = await openAsOtherUser(hash);
    await reader.page.getByRole('heading', { name: 'Public words' }).waitFor();
    expect(await reader.page.getByText('Private first words').count()).toBe(0);
  });

  it('is in the list of links with the present title of the chat, and in the dialog too', async () => {
    const { page, ...owner } = await fixture.open('demo');
    await owner.sendMessage('A first question');
    await owner.readAnswer();
    await share({ page, ...owner });
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'A first question', exact: true }).press('F2');
    await page.keyboard.type('Trip to Oslo');
    await page.keyboard.press('Enter');
    await page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await page.getByText('The title of the link is “Trip to Oslo”.').waitFor();
    await page.getByRole('dialog').getByRole('link', { name: 'Trip to Oslo' }).waitFor();
    await page.getByRole('button', { name: 'Remove the link to Trip to Oslo' }).waitFor();
  });

  it('shows the name of a model that the reader cannot use, and names the model that the copy continues with', async () => {
    const owner = await fixture.open('boss');
    await owner.sendMessage('Hello');
    await owner.readAnswer();
    const reader = await openAsOtherUser(await share(owner));
    const name = reader.page.locator('.reply-deployment', { hasText: 'Boss Model' });
    await name.waitFor();
    await reader.page.getByText('You cannot use Boss Model. The copy continues with Demo.').waitFor();
    await reader.page.getByRole('button', { name: 'Continue in a copy' }).click();
    await reader.page.locator('.picker', { hasText: 'Demo' }).waitFor();
    await name.waitFor();
  });
});

describe.each(viewports)('sharing at the window size %s', (viewport, options) => {
  it('has no accessibility violations in the dialog and in the shared chat', async () => {
    const owner = await fixture.open('demo', options);
    await owner.sendMessage('Show me everything');
    await owner.readAnswer();
    await owner.page.locator('.page-header').getByRole('button', { name: 'Share with a link' }).click();
    await owner.page.getByRole('button', { name: 'Create a link', disabled: false }).waitFor();
    expect(await findViolations(owner.page)).toEqual([]);
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    const hash = await share(owner);
    expect(await findViolations(owner.page)).toEqual([]);
    await takeScreenshot(owner, `dialog ${viewport}`);
    const reader = await openAsOtherUser(hash, options);
    await reader.page.getByText('Shared by test on').waitFor();
    await reader.page.locator('.reply .markdown').first().waitFor();
    expect(await findViolations(reader.page)).toEqual([]);
    expect(await reader.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await takeScreenshot(reader, `shared ${viewport}`);
    const invalidLink = await openAsOtherUser(`#/shared/${'A'.repeat(43)}`, options);
    await invalidLink.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    expect(await findViolations(invalidLink.page)).toEqual([]);
    await takeScreenshot(invalidLink, `gone ${viewport}`);
  });
});

async function takeScreenshot({ page }: TestPage, name: string): Promise<void> {
  const folder = process.env.SHARE_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name.replace(/\W+/g, '-')}.png` });
}
