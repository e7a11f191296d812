import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply, text } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { errorReply, eventsReply } from '#test/scripted-upstream.ts';
import { callerKey, usersDemoPaceMs } from '#test/start-service.ts';
import { openLongConversation } from './long-conversation.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';

allowNonconformingUpstreams();

let fixture: PageFixture;
/** Uses a slow demo model, for tests that act while it answers. */
let paced: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
  paced = await startPageFixture({}, { demoPaceMs: usersDemoPaceMs });
});

afterAll(async () => {
  await paced[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

const photo = fileURLToPath(new URL('../../docs/images/chat-phone.png', import.meta.url));

const noIssues = { externalRequests: [], errors: [] };

describe('signing in', () => {
  it('reads the key from the link and removes it from the address', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('#message').waitFor();
    expect(page.url()).not.toContain(callerKey);
    expect(await page.evaluate('JSON.stringify([localStorage, document.cookie])')).not.toContain(callerKey);
    await page.reload();
    await page.locator('#message').waitFor();
    await page.evaluate(`location.hash = '#key=${callerKey}'`);
    await page.waitForURL((url) => url.hash === '');
    await page.locator('#message').waitFor();
  });

  it('asks for a key, shows an error for a wrong key, and clears the session after sign-out', async () => {
    const { page } = await fixture.openAt('/');
    await page.getByLabel('Key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('That key doesn’t work').waitFor();
    await page.getByLabel('Key').fill(callerKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('#message').fill('Private words');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Private words' }).waitFor();
    expect(await page.title()).toMatch('Private words');
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.question-dialog .danger').click();
    await page.getByLabel('Key').waitFor();
    expect(await page.evaluate('[sessionStorage.length, document.title]')).toEqual([0, 'Parley']);
  });
});

describe('a chat with the demo model', () => {
  it('shows stages, text, an attachment, controls, and token usage', async () => {
    const { page, sendMessage, readAnswer, issues } = await fixture.open('demo');
    await sendMessage('Show me everything');
    expect(await readAnswer()).toContain('one that went well');
    await page.getByText('3 steps').or(page.getByText('4 steps')).first().click();
    await page.getByText('A stage that fails on purpose').waitFor();
    await page.getByRole('cell', { name: 'Passages to read' }).waitFor();
    expect(await page.locator('.usage summary').textContent()).toMatch(/^\d+ tokens/);
    await page.getByRole('button', { name: 'green' }).click();
    expect(await readAnswer()).toContain('You used the control Pick a color with the value {"color":"green"}');
    expect(await page.locator('.question .chosen').textContent()).toBe('Pick a color · Color: green');
    expect(issues).toEqual(noIssues);
  });

  it('validates a form before it is sent and shows the sent values', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Show me controls');
    await readAnswer();
    const form = page.locator('fieldset', { hasText: 'Rate this answer' });
    await form.getByLabel('Stars').fill('9');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('At most 5.').waitFor();
    await form.getByLabel('Stars').fill('4');
    await form.getByLabel('Remark').fill('fine');
    await form.getByRole('button', { name: 'Send' }).click();
    expect(await readAnswer()).toContain('{"stars":4,"remark":"fine"}');
    const sentForm = page.locator('.reply').first().getByRole('group', { name: 'Rate this answer' });
    expect(await sentForm.getByLabel('Stars').inputValue()).toBe('4');
    expect(await sentForm.getByLabel('Remark').inputValue()).toBe('fine');
    expect(await sentForm.getByLabel('Remark').isDisabled()).toBe(true);
    expect(await sentForm.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  });

  it('keeps the partial text of a stopped answer and offers other versions after an edit or a retry', async () => {
    const { page, sendMessage, readAnswer } = await paced.open('demo');
    await sendMessage('Count to 900');
    await page.locator('.markdown').getByText('1 2 3').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await readAnswer()).toMatch(/^1 2 3/);
    await page.getByText('You stopped this answer.').waitFor();
    await page.locator('.question').hover();
    await page.getByRole('button', { name: 'Edit and ask again' }).click();
    await page.getByRole('textbox', { name: 'Edit and ask again' }).fill('Count to 3');
    await page.keyboard.press('Enter');
    await page.locator('.markdown').getByText('1 2 3', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.reply .branches').waitFor();
    expect(await page.locator('.reply .branches').textContent()).toBe('2/2');
    await page.locator('.question').hover();
    await page.locator('.question').getByRole('button', { name: 'Previous version' }).click();
    await page.getByText('You stopped this answer.').waitFor();
    expect(await page.locator('.question-text').textContent()).toBe('Count to 900');
  });

  it('keeps the partial answer after a reload, and the search finds the chat', async () => {
    const { page, sendMessage, reload } = await paced.open('demo');
    await sendMessage('Count to 901');
    await page.locator('.markdown').getByText('40 41').waitFor();
    await page.waitForTimeout(600);
    await reload();
    await page.getByText('This answer was interrupted when the page closed').waitFor();
    expect(await page.locator('.markdown').textContent()).toContain('20 21 22');
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.locator('.starter').first().waitFor();
    await page.getByLabel('Search chats').fill('nothing of this');
    await page.getByText('No results for').waitFor();
    await page.getByLabel('Search chats').fill('901 COUNT');
    await page.getByRole('link', { name: 'Count to 901' }).click();
    await page.locator('.question-text').getByText('Count to 901').waitFor();
  });

  it('keeps the messages of both tabs if it continues in two tabs', async () => {
    const { page, sendMessage, readAnswer, reload } = await fixture.open('demo');
    await sendMessage('Count to 2');
    await readAnswer();
    const other = await page.context().newPage();
    await other.goto(`${fixture.service.url}/#key=${callerKey}`);
    await other.getByRole('link', { name: 'Count to 2' }).click();
    await other.locator('.reply').waitFor();
    await sendMessage('Count to 3');
    await readAnswer();
    await other.locator('.reply').nth(1).waitFor();
    await other.locator('#message').fill('Count to 4');
    await other.keyboard.press('Enter');
    await other.locator('.markdown').getByText('1 2 3 4', { exact: true }).waitFor();
    await other.locator('.reply').last().locator('.actions').waitFor();
    await page.waitForTimeout(500);
    await reload();
    await page.locator('.question').nth(2).waitFor();
    const questions = await page.locator('.question-text').allTextContents();
    expect(questions).toEqual(['Count to 2', 'Count to 3', 'Count to 4']);
  });

  it('continues to stream while the user reads another chat', async () => {
    const { page, sendMessage, readAnswer } = await paced.open('demo');
    await sendMessage('Count to 60');
    await page.locator('.markdown').getByText('1 2 3').waitFor();
    await page.getByRole('link', { name: 'New chat' }).click();
    await page.locator('.starter').first().waitFor();
    await sendMessage('Count to 4');
    expect(await readAnswer()).toBe('1 2 3 4');
    await page.getByRole('link', { name: 'Count to 60' }).click();
    await page
      .locator('.markdown')
      .getByText(/59 60$/)
      .waitFor();
    expect(await readAnswer()).toMatch(/^1 2 3 .*59 60$/);
  });

  it('fits on a phone and moves rarely used actions to the command palette', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo', { viewport: { width: 390, height: 780 } });
    const message = page.locator('#message');
    const empty = (await message.boundingBox())?.height;
    await message.fill('A');
    // A long placeholder must not make the empty field two lines high.
    await message.evaluate((field: { placeholder: string }) => {
      field.placeholder = 'Message a model whose name is longer than a phone is wide';
    });
    await message.fill('');
    expect((await message.boundingBox())?.height).toBe(empty);
    const send = await page.getByRole('button', { name: 'Send' }).boundingBox();
    expect((send?.x ?? 0) + (send?.width ?? 0)).toBeLessThan(390);
    const buffer = Buffer.from('The canteen serves lunch at noon.');
    await page.locator('input[type=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer });
    await sendMessage('Hello');
    await readAnswer();
    const [name, save] = await Promise.all(
      ['.attachment-toggle', '.attachment-header > .icon-button'].map((part) =>
        page.locator('.question').locator(part).boundingBox(),
      ),
    );
    expect(save?.y).toBeLessThan((name?.y ?? 0) + (name?.height ?? 0));
    // The header has no button for code on a phone, but the command palette has the command.
    expect(await page.getByRole('button', { name: 'Use from code' }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('use from');
    await page.getByRole('option', { name: 'Use from code' }).click();
    await page.getByRole('dialog').getByText('Use with').waitFor();
  });

  it('uploads chosen files and sends them with the message', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    const buffer = Buffer.from('Employees get 30 days of vacation a year. The canteen serves lunch at noon.');
    await page.locator('input[type=file]').setInputFiles({ name: 'handbook.txt', mimeType: 'text/plain', buffer });
    await page.getByText('handbook.txt').waitFor();
    await sendMessage('How many vacation days do employees get?');
    expect(await readAnswer()).toContain('30 days of vacation');
    // Text files start collapsed because their sender knows them. Images are shown.
    await page.locator('.question').getByRole('button', { name: 'handbook.txt', expanded: false }).click();
    await page.locator('.question').getByText('The canteen serves lunch').waitFor();
    await page.locator('input[type=file]').setInputFiles(photo);
    await sendMessage('What is this?');
    await readAnswer();
    await page.locator('.question').getByRole('img', { name: 'chat-phone.png' }).waitFor();
  });
});

describe('an error', () => {
  async function openAndSend(deployment: string): Promise<TestPage> {
    const opened = await fixture.open(deployment);
    await opened.sendMessage('Hello');
    return opened;
  }

  it('is explained with a suggestion if the rate limit is reached', async () => {
    fixture.upstream.script(errorReply(429, { 'retry-after': '20' }));
    const { page } = await openAndSend('scripted');
    await page.getByText('There are too many requests right now.').waitFor();
    await page.getByText('Try again in 20 seconds.').waitFor();
  });

  it('keeps the partial answer if the stream breaks, and a retry succeeds', async () => {
    fixture.upstream.script(
      async (exchange) => {
        exchange.head();
        await exchange.events(delta({ role: 'assistant' }), text('It begins'));
        exchange.destroyConnection();
      },
      eventsReply(...plainReply('Whole.')),
    );
    const { page, readAnswer } = await openAndSend('raw');
    expect(await readAnswer()).toBe('It begins');
    await page.locator('.answer-error').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Whole.').waitFor();
    expect(await page.locator('.answer-error').count()).toBe(0);
  });

  it('offers to sign in again if the key is no longer valid', async () => {
    await using other = await startPageFixture();
    const { page, sendMessage } = await other.open('demo');
    other.service.reload({ models: { demo: { upstreams: [{ protocol: 'demo' }] } }, keys: { another: { project: 'test' } } });
    await sendMessage('Hello');
    await page.locator('.answer-error').getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Key').waitFor();
  });
});

describe('an unusual answer', () => {
  it.each([
    ['no content', [delta({ role: 'assistant' }), finish()]],
    [
      'controls with broken schemas',
      [
        delta({
          custom_content: {
            controls: [
              { index: 0, label: 'Odd', schema: { properties: { a: { enum: 'x', type: 7 } }, required: 5 } },
              { index: 1, label: 'Odder', schema: 'no' as never },
            ],
          },
        }),
        finish(),
      ],
    ],
    [
      'a schema that contains itself by reference',
      [delta({ custom_content: { controls: [{ index: 0, label: 'Loop', schema: { $ref: '#' } }] } }), finish()],
    ],
    [
      'attachments with broken content',
      [
        delta({
          custom_content: {
            attachments: [
              { index: 0, type: 'image/png', data: '%%%' },
              { index: 1, type: 'application/vnd.plotly.v1+json', data: '{' },
              { index: 2 },
              { index: 3, type: 'text/csv', data: '"a' },
            ],
          },
        }),
        finish(),
      ],
    ],
    [
      'a stage of a megabyte',
      [
        delta({ custom_content: { stages: [{ index: 0, name: 'Big', status: 'completed', content: '# x\n'.repeat(250_000) }] } }),
        finish(),
      ],
    ],
  ])('with %s does not break the page', async (_what, events) => {
    fixture.upstream.script(eventsReply(...events));
    const { page, sendMessage, readAnswer, issues } = await fixture.open('raw');
    await sendMessage('Hello');
    await readAnswer();
    for (const summary of await page.locator('.reply summary').all()) await summary.click();
    expect(await page.locator('#message').isVisible()).toBe(true);
    expect(issues).toEqual(noIssues);
  });
});

describe('files', () => {
  const buildTransfer = (name: string) => `{
    const transfer = new DataTransfer();
    transfer.items.add(new File(['The canteen serves lunch at noon.'], '${name}', { type: 'text/plain' }));
    `;

  it('are added by drag and drop and by paste, and can be removed', async () => {
    const { page } = await fixture.open('demo');
    await page.evaluate(`${buildTransfer('held.txt')}
      document.querySelector('.wordmark').dispatchEvent(new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer: transfer })); }`);
    await page.getByText('Drop files to attach them').waitFor();
    await page.evaluate(`${buildTransfer('dropped.txt')}
      document.querySelector('.wordmark').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer })); }`);
    await page.getByText('dropped.txt').waitFor();
    expect(await page.getByText('Drop files to attach them').count()).toBe(0);
    await page.evaluate(`${buildTransfer('pasted.txt')}
      document.querySelector('#message').dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: transfer })); }`);
    await page.getByText('pasted.txt').waitFor();
    await page.getByRole('button', { name: 'Remove dropped.txt' }).click();
    await page.getByText('dropped.txt').waitFor({ state: 'detached' });
  });

  it('show an error if they are too large and the service does not store files', async () => {
    const { page } = await fixture.open('demo');
    const buffer = Buffer.alloc(600 * 1024, 'x');
    await page.locator('input[type=file]').setInputFiles({ name: 'big.bin', mimeType: 'application/octet-stream', buffer });
    await page
      .getByText(
        'big.bin could not be uploaded: it is too large to send with the message, and this service does not store files.',
      )
      .waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  });
});

describe('a long chat', () => {
  it('of 200 messages opens completely, continues, and can be downloaded', async () => {
    const opened = await fixture.open('demo');
    const { page, sendMessage, readAnswer } = opened;
    const getText = (at: number): string => `**Answer** ${at}\n\n- a\n- b`;
    await openLongConversation(opened, { deployment: 'demo', messages: 200, getText });
    await page.getByText('Answer 199').waitFor();
    expect(await page.locator('article').count()).toBe(200);
    await sendMessage('Count to 3');
    expect(await readAnswer()).toBe('1 2 3');
    await page.getByLabel('Download this chat').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'As Markdown' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('Long.md');
  });
});
