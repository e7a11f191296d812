import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { type ChatsFixture, startChatsFixture } from './chats-fixture.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: ChatsFixture;

beforeAll(async () => {
  fixture = await startChatsFixture({}, { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } });
});

afterAll(() => fixture[Symbol.asyncDispose]());

interface ListedChat {
  readonly id: string;
  readonly title: string;
  readonly pinned: boolean;
  readonly tags?: readonly string[];
}

const listChats = async (archived = false): Promise<readonly ListedChat[]> => {
  const path = `/v1/chats?archived=${archived}`;
  const { json } = await fixture.service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
  return (json as { data: ListedChat[] }).data;
};

const storeChat = (title: string, body: object = {}) =>
  fixture.service.sendRequest({
    method: 'POST',
    path: `/v1/chats/${title.replaceAll(' ', '-')}`,
    headers: { 'api-key': callerKey, 'content-type': 'application/json' },
    body: {
      ...{ title, deployment: 'demo', updatedAtMs: Date.now(), ...body },
      turns: [{ id: 'q', parent: '', kind: 'question', atMs: 1, text: `Tell me about ${title}`, attachments: [] }],
    },
  });

const choose = async (page: Page, title: string, choice: string) => {
  await page.locator('.conversation-item', { hasText: title }).hover();
  await page.getByRole('button', { name: `More for “${title}”` }).click();
  await page.locator('.conversation-menu').getByRole('button', { name: choice, exact: true }).click();
};

const group = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describe('the chat list', () => {
  it('syncs renamed and pinned chats across devices, including an open chat', async () => {
    await storeChat('Boats');
    await storeChat('Trains', { updatedAtMs: Date.now() - 40 * 86_400_000 });
    const first = await fixture.openAt(`/#key=${callerKey}`);
    const second = await fixture.openAt(`/#key=${callerKey}`);
    await second.page.getByRole('link', { name: 'Boats' }).click();
    await second.page.locator('.question', { hasText: 'Tell me about Boats' }).waitFor();

    await first.page.getByRole('link', { name: 'Boats' }).press('F2');
    await first.page.getByRole('textbox', { name: 'New name of “Boats”' }).fill('Ships');
    await first.page.keyboard.press('Enter');
    await first.page.getByRole('link', { name: 'Ships' }).waitFor();
    await choose(first.page, 'Trains', 'Pin');
    await group(first.page, 'Pinned').getByRole('link', { name: 'Trains' }).waitFor();
    await expect
      .poll(async () => (await listChats()).map(({ title, pinned }) => [title, pinned]))
      .toEqual([
        ['Trains', true],
        ['Ships', false],
      ]);
    await second.page.getByRole('link', { name: 'Ships' }).waitFor();
    await group(second.page, 'Pinned').getByRole('link', { name: 'Trains' }).waitFor();
    await second.sendMessage('Go on');
    await second.readAnswer();
    await expect.poll(async () => (await listChats()).map(({ title }) => title)).toEqual(['Trains', 'Ships']);
    await choose(second.page, 'Trains', 'Unpin');
    await expect.poll(async () => (await listChats()).map(({ pinned }) => pinned)).toEqual([false, false]);
    expect([first.issues, second.issues]).toEqual(Array(2).fill({ externalRequests: [], errors: [] }));
  });

  it('lists archived chats separately and lets the user find and unarchive them', async () => {
    await storeChat('Old plans');
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await choose(page, 'Old plans', 'Archive');
    await page.locator('.conversation-item', { hasText: 'Old plans' }).waitFor({ state: 'detached' });
    await expect.poll(async () => (await listChats(true)).map(({ title }) => title)).toEqual(['Old plans']);
    const there = await fixture.openAt(`/#key=${callerKey}`);
    await there.page.getByRole('button', { name: 'Archived', pressed: false }).waitFor();
    expect(await there.page.locator('.conversation-item', { hasText: 'Old plans' }).count()).toBe(0);
    await there.page.getByRole('searchbox').fill('tell old plans');
    await group(there.page, 'Archived').getByRole('link', { name: 'Old plans' }).waitFor();
    await there.page.getByRole('searchbox').fill('');
    await there.page.getByRole('button', { name: 'Archived' }).click();
    await choose(there.page, 'Old plans', 'Unarchive');
    await group(there.page, 'Today').getByRole('link', { name: 'Old plans' }).waitFor();
    expect(await there.page.getByRole('button', { name: 'Archived' }).count()).toBe(0);
    await expect.poll(async () => (await listChats(true)).length).toBe(0);
  });

  it('filters by projects that were added with the keyboard only', async () => {
    await storeChat('Gardens');
    await storeChat('Bread');
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.getByRole('link', { name: 'Gardens' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Projects of the chat “Gardens”' }).waitFor();
    await page.getByRole('textbox', { name: 'New project' }).focus();
    await page.keyboard.type('home');
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: 'home', checked: true }).waitFor();
    await page.getByRole('button', { name: 'Project settings: home' }).press('Enter');
    await page.getByRole('dialog', { name: 'Project “home”' }).getByLabel('Instructions').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Project “home”' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('More for “Gardens”');
    await page.getByRole('button', { name: 'home' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Bread' }).waitFor({ state: 'detached' });
    expect(await page.locator('.conversation-item a').allTextContents()).toEqual(['Gardens']);
    await page.getByRole('button', { name: 'All chats', pressed: false }).click();
    await page.getByRole('link', { name: 'Bread' }).waitFor();
    await page.getByRole('button', { name: 'All chats', pressed: true }).waitFor();
    await expect.poll(async () => (await listChats()).find(({ id }) => id === 'Gardens')?.tags).toEqual(['home']);
  });

  it('starts a project with instructions from the list of chats', async () => {
    const { page, sendMessage, readAnswer } = await fixture.openAt(`/#key=${callerKey}`);
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name', { exact: true }).fill(' Winter  trip ');
    await page.getByLabel('Instructions').fill('Answer like a mountain guide.');
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await page.getByRole('button', { name: 'Start a chat' }).click();
    await page.getByText('This chat belongs to the project “Winter trip”').waitFor();
    await page.getByRole('button', { name: 'Project settings' }).waitFor();
    const [request] = await Promise.all([page.waitForRequest(/v1\/chat-runs\//), sendMessage('Where?')]);
    expect(request.postDataJSON().messages[0].content).toBe('Answer like a mountain guide.');
    await readAnswer();
    await page.getByRole('group', { name: 'Show only' }).getByRole('button', { name: 'Winter trip' }).waitFor();
  });

  it('lists a project without chats, opens it if its name is used again, and deletes it but not its chats', async () => {
    await storeChat('Colosseum', { tags: ['Rome', 'home'] });
    const { page, issues } = await fixture.openAt(`/#key=${callerKey}`);
    const dialog = page.getByRole('dialog', { name: 'New project' });
    const createProject = async (name: string, instructions?: string): Promise<void> => {
      await page.getByRole('button', { name: 'New project' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill(name);
      if (instructions === undefined) await dialog.getByText(`The project “${name}” already exists.`).waitFor();
      else await dialog.getByLabel('Instructions').fill(instructions);
      await dialog.getByRole('button', { name: 'Start a chat' }).click();
      await page.getByText(`This chat belongs to the project “${name}”`).waitFor();
      await page.getByRole('link', { name: 'New chat', exact: true }).click();
    };
    const listed = page.getByRole('group', { name: 'Show only' }).getByRole('button', { name: 'Empty', exact: true });
    await createProject('Empty', 'Answer in Latin.');
    await listed.waitFor();
    await page.reload();
    await listed.waitFor();
    await createProject('Empty');
    const deleteProject = async (name: string): Promise<void> => {
      await page.getByRole('group', { name: 'Show only' }).getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: 'Project settings' }).click();
      const addFiles = await page.getByRole('button', { name: 'Add files…' }).boundingBox();
      expect(addFiles?.width).toBeLessThan(200);
      await page.getByRole('button', { name: 'Delete project…' }).click();
      await page.getByText(`Delete the project “${name}”`).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page
        .getByRole('group', { name: 'Show only' })
        .getByRole('button', { name, exact: true })
        .waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'New project' }).waitFor();
    };
    await deleteProject('Empty');
    // Its name belongs to a new project.
    await createProject('Empty', '');
    await deleteProject('Empty');
    await deleteProject('Rome');
    await expect.poll(async () => (await listChats()).find(({ title }) => title === 'Colosseum')?.tags).toEqual(['home']);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('stores and lists a project whose name contains special characters', async () => {
    const { page, sendMessage, readAnswer } = await fixture.openAt(`/#key=${callerKey}`);
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Q1/Q2 & 100% “?#”');
    await page.getByLabel('Instructions').fill('Answer in numbers.');
    await page.getByRole('button', { name: 'Start a chat' }).click();
    await page.getByRole('group', { name: 'Show only' }).getByRole('button', { name: 'Q1-Q2 & 100% “?#”' }).waitFor();
    const [request] = await Promise.all([page.waitForRequest(/v1\/chat-runs\//), sendMessage('How many?')]);
    expect(request.postDataJSON().messages[0].content).toBe('Answer in numbers.');
    await readAnswer();
  });

  describe('a renamed project', () => {
    const send = async (method: string, path: string, body?: object): Promise<unknown> => {
      const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
      return (await fixture.service.sendRequest({ method, path, headers, ...(body && { body }) })).json;
    };
    const getFolder = async (): Promise<string> => {
      const { bucket } = (await send('GET', '/v1/bucket')) as { bucket: string };
      return `prompts/${bucket}/projects/`;
    };
    /** Returns the instructions of a project that is stored under this name. */
    const readInstructions = async (name: string): Promise<unknown> => {
      const stored = await send('GET', `/v1/${await getFolder()}${encodeURIComponent(name)}`);
      return (stored as { content?: string }).content;
    };
    const storeProject = async (name: string, content: string): Promise<void> => {
      const folder = await getFolder();
      const body = { id: `${folder}${name}`, folderId: folder.slice(0, -1), name, content };
      await send('PUT', `/v1/${folder}${encodeURIComponent(name)}`, body);
    };
    const readTags = async (title: string) => (await listChats()).find((chat) => chat.title === title)?.tags;
    const openSettings = async (page: Page, name: string) => {
      await page.getByRole('group', { name: 'Show only' }).getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: 'Project settings' }).click();
      const dialog = page.getByRole('dialog', { name: `Project “${name}”` });
      await dialog.getByLabel('Instructions').waitFor();
      return dialog;
    };

    it.each(viewports)('keeps its chats and instructions, and does not get a name that exists: %s', async (look, options) => {
      await storeChat('Colosseum', { tags: ['Rome', 'home'] });
      await storeChat('Gardens', { tags: ['home'] });
      await storeProject('Rome', 'Answer in Latin.');
      const newName = `Ancient Rome ${look}`;
      const { page, issues } = await fixture.openAt(`/#key=${callerKey}`, options);
      if (look === 'phone') await page.getByRole('button', { name: 'Show chats' }).click();
      const dialog = await openSettings(page, 'Rome');
      const save = dialog.getByRole('button', { name: 'Save' });
      await dialog.getByLabel('Name').fill(' home ');
      await dialog.getByText('The project “home” already exists. Choose another name.').waitFor();
      expect([await save.isDisabled(), await findViolations(page), await measureOverflow(page)]).toEqual([true, [], 0]);
      if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/rename-${look}.png` });
      await dialog.getByLabel('Name').fill(`Ancient  Rome ${look}`);
      await dialog.getByLabel('Instructions').fill('Answer in Greek.');
      await save.click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: newName, exact: true, pressed: true }).waitFor();
      expect(await page.locator('.conversation-item a').allTextContents()).toEqual(['Colosseum']);
      await expect.poll(() => readTags('Colosseum')).toEqual([newName, 'home']);
      expect([await readInstructions('Rome'), await readInstructions(newName)]).toEqual([undefined, 'Answer in Greek.']);
      expect(issues).toEqual({ externalRequests: [], errors: [] });
    });

    it('loses nothing if two tabs rename it', async () => {
      await storeChat('Colosseum', { tags: ['Rome'] });
      await storeProject('Rome', 'Answer in Latin.');
      const tabs = [await fixture.openAt(`/#key=${callerKey}`), await fixture.openAt(`/#key=${callerKey}`)];
      const dialogs = await Promise.all(tabs.map(({ page }) => openSettings(page, 'Rome')));
      const names = ['First', 'Second'];
      await Promise.all(dialogs.map((dialog, index) => dialog.getByLabel('Name').fill(names[index] ?? '')));
      await Promise.all(dialogs.map((dialog) => dialog.getByRole('button', { name: 'Save' }).click()));
      await expect.poll(async () => names.includes((await readTags('Colosseum'))?.[0] ?? '')).toBe(true);
      const [name = ''] = (await readTags('Colosseum')) ?? [];
      expect([(await readTags('Colosseum'))?.length, await readInstructions(name)]).toEqual([1, 'Answer in Latin.']);
    });

    it('does not replace a project that another tab named meanwhile', async () => {
      await storeChat('Colosseum', { tags: ['Rome'] });
      const { page } = await fixture.openAt(`/#key=${callerKey}`);
      const dialog = await openSettings(page, 'Rome');
      await storeProject('Taken', 'From the other tab.');
      await dialog.getByLabel('Name').fill('Taken');
      await dialog.getByLabel('Instructions').fill('From this tab.');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('The project “Taken” already exists. Choose another name.').waitFor();
      expect([await readInstructions('Taken'), await readTags('Colosseum')]).toEqual(['From the other tab.', ['Rome']]);
      await dialog.getByLabel('Name').fill('Free');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await expect.poll(() => readTags('Colosseum')).toEqual(['Free']);
      expect(await readInstructions('Free')).toBe('From this tab.');
    });

    it('is complete after a second attempt if the first one fails halfway', async () => {
      await storeChat('Colosseum', { tags: ['Rome'] });
      await storeProject('Rome', 'Answer in Latin.');
      const { page } = await fixture.openAt(`/#key=${callerKey}`);
      const dialog = await openSettings(page, 'Rome');
      await page.route(/\/v1\/chats\/Colosseum/, (route) => route.abort());
      await dialog.getByLabel('Name').fill('Athens');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('alert').waitFor();
      expect(await readInstructions('Athens')).toBe('Answer in Latin.');
      await page.unroute(/\/v1\/chats\/Colosseum/);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await expect.poll(() => readTags('Colosseum')).toEqual(['Athens']);
      expect([await readInstructions('Rome'), await readInstructions('Athens')]).toEqual([undefined, 'Answer in Latin.']);
    });

    it.each([
      ['Q1/Q2', 'Two quarters'],
      ['Q1/', 'One quarter'],
      ['/', 'Other'],
    ])('can have had a name with a slash: %s', async (name, newName) => {
      await storeChat('Colosseum', { tags: [name] });
      if (name === 'Q1/Q2') await storeProject(name, 'Answer in numbers.');
      const { page } = await fixture.openAt(`/#key=${callerKey}`);
      let dialog = await openSettings(page, name);
      expect(await dialog.getByLabel('Instructions').inputValue()).toBe(name === 'Q1/Q2' ? 'Answer in numbers.' : '');
      await dialog.getByLabel('Name').fill(newName);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await expect.poll(() => readTags('Colosseum')).toEqual([newName]);
      expect(await readInstructions(newName)).toBe(name === 'Q1/Q2' ? 'Answer in numbers.' : '');

      await storeChat('Gardens', { tags: [name] });
      if (name === 'Q1/Q2') await storeProject(name, 'Answer in words.');
      await page.reload();
      dialog = await openSettings(page, name);
      await dialog.getByRole('button', { name: 'Delete project…' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await expect.poll(() => readTags('Gardens')).toEqual([]);
      expect(await readInstructions(name)).toBe(undefined);
    });
  });

  it('stores a new project once, and starts no chat if the user closes its dialog meanwhile', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name', { exact: true }).fill('Slow');
    await dialog.getByLabel('Instructions').fill('Take your time.');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let uploads = 0;
    await page.route(/\/projects\/Slow/, async (route) => {
      uploads += 1;
      if (uploads === 1) return route.fulfill({ status: 503, json: { error: { message: 'Try again.' } } });
      await released;
      await route.continue();
    });
    const start = dialog.getByRole('button', { name: 'Start a chat' });
    await start.click();
    await dialog.getByText('Try again.').waitFor();
    await start.click();
    await expect.poll(() => uploads).toBe(2);
    expect([await dialog.getByText('Try again.').count(), await start.isDisabled()]).toEqual([0, true]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    const stored = page.waitForResponse(/\/projects\/Slow/);
    release();
    await stored;
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');
    expect([uploads, await page.getByText('This chat belongs to the project').count()]).toEqual([2, 0]);
  });

  it('sends the instructions and files of a project and the memory with each question, until they are disabled', async () => {
    await storeChat('Gardens', { tags: ['home'] });
    fixture.upstream.script(...Array.from({ length: 3 }, () => eventsReply(...plainReply('Fine.'))));
    const { page, sendMessage, readAnswer, issues } = await fixture.openAt(`/#key=${callerKey}`);
    const dialog = page.getByRole('dialog');
    const save = async (answer: string, closeMemory?: () => Promise<void>): Promise<void> => {
      expect(await findViolations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.locator('[role=status]', { hasText: answer }).waitFor();
      await closeMemory?.();
      await page.locator('.form-dialog').waitFor({ state: 'detached' });
    };
    const closeMemory = async (): Promise<void> => {
      await dialog.getByText('Saved. This applies from the next message of each chat.').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
    };
    const getLastMessages = (): unknown => fixture.upstream.requests.at(-1)?.body.messages;
    await page.getByRole('button', { name: 'home' }).click();
    await page.getByRole('button', { name: 'Project settings' }).click();
    await dialog.getByLabel('Instructions', { exact: true }).fill('Answer as a gardener.');
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'beds.txt', mimeType: 'text/plain', buffer: Buffer.from('Bed 1: roses') });
    await dialog.getByText('beds.txt').waitFor();
    await save('of each chat in this project');
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Memory' }).click();
    await page.getByText('Everyone with a key of the team “test” can see and change this too.').waitFor();
    await dialog.getByLabel('Memory text').fill('Lives in Porto.');
    await save('of each chat.', closeMemory);
    await page.getByRole('link', { name: 'New chat in “home”' }).click();
    await page.getByText('belongs to the project “home”').waitFor();
    await page.locator('.picker').click();
    await page.locator('.picker-dialog').getByText('Scripted').click();
    await sendMessage('What grows here?');
    await readAnswer();
    await page.getByText('uses your memory, project “home”').waitFor();
    expect(getLastMessages()).toEqual([
      { role: 'system', content: 'Notes about the user, written by the user:\nLives in Porto.\n\nAnswer as a gardener.' },
      { role: 'user', content: 'What grows here?\n\nAttachment "beds.txt" (text/plain):\nBed 1: roses' },
    ]);
    await expect.poll(async () => (await listChats()).find(({ title }) => title === 'What grows here?')?.tags).toEqual(['home']);
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Memory' }).click();
    await dialog.getByLabel('Use the memory in chats').uncheck();
    await save('of each chat.', closeMemory);
    await page.getByRole('link', { name: 'New chat', exact: true }).click();
    await page.locator('.starter').first().waitFor();
    await sendMessage('And now?');
    await readAnswer();
    expect(getLastMessages()).toEqual([{ role: 'user', content: 'And now?' }]);
    expect(await page.getByText('uses your memory').count()).toBe(0);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows new and opened chats despite an earlier search', async () => {
    await storeChat('Gardens');
    await storeChat('Bread');
    const { page, sendMessage, readAnswer } = await fixture.openAt(`/#key=${callerKey}`);
    const items = page.locator('.conversation-item a');
    const search = page.getByRole('searchbox');
    await page.getByRole('link', { name: 'Bread' }).waitFor();
    await search.fill('garden');
    await page.getByRole('link', { name: 'Bread' }).waitFor({ state: 'detached' });
    // Opening a result keeps the search, so that the user can open the next result.
    await page.getByRole('link', { name: 'Gardens' }).click();
    await page.locator('.question', { hasText: 'Tell me about Gardens' }).waitFor();
    await items.filter({ hasText: 'Tell me about Gardens' }).waitFor();
    expect([await search.inputValue(), await items.allTextContents()]).toEqual(['garden', ['GardensTell me about Gardens']]);
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.locator('.starter').first().waitFor();
    expect(await search.inputValue()).toBe('');
    await search.fill('garden');
    await page.getByRole('link', { name: 'Bread' }).waitFor({ state: 'detached' });
    await sendMessage('Where am I?');
    await readAnswer();
    await page.getByRole('link', { name: 'Where am I?' }).waitFor();
    expect([await search.inputValue(), await items.first().textContent()]).toEqual(['', 'Where am I?']);
  });

  it.each(viewports)('has no accessibility violations with open menus and dialogs: %s', async (_look, options) => {
    await storeChat('Gardens', { tags: ['home'] });
    const { page } = await fixture.openAt(`/#key=${callerKey}`, options);
    await page.locator('.starter').first().waitFor();
    const drawer = page.getByRole('button', { name: 'Show chats' });
    const isPhone = await drawer.isVisible();
    if (isPhone) await drawer.click();
    await page.locator('.conversation-item', { hasText: 'Gardens' }).hover();
    await page.getByRole('button', { name: 'More for “Gardens”' }).click();
    await page.locator('.conversation-menu').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('.conversation-menu').waitFor({ state: 'detached' });
    expect(await page.locator('.sidebar.open').count()).toBe(isPhone ? 1 : 0);
    await choose(page, 'Gardens', 'Projects…');
    await page.getByRole('dialog').waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
