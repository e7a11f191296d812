import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { errorReply, eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  const upstreams = [{ protocol: 'demo' }];
  fixture = await startPageFixture({
    models: {
      painter: { displayName: 'Painter', upstreams, inputAttachmentTypes: ['image/*'], maxInputAttachments: 1 },
      reader: { displayName: 'Reader', upstreams, inputAttachmentTypes: ['text/*'] },
    },
  });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The canteen opens at noon.') };
const picture = { name: 'one.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgo=', 'base64') };

describe('a file that the model does not accept', () => {
  it('is reported when it is attached, and accepted by another model', async () => {
    const { page } = await fixture.open('painter');
    const send = page.getByRole('button', { name: 'Send' });
    await page.locator('input[type=file]').setInputFiles([notes, picture, { ...picture, name: 'two.png' }]);
    await page.locator('#message').fill('What is this?');
    await page.getByText('notes.txt: Painter does not accept this type of file.').waitFor();
    await page.getByText('two.png: Painter accepts at most one file with a message.').waitFor();
    expect(await send.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove notes.txt' }).click();
    await page.getByRole('button', { name: 'Remove two.png' }).click();
    expect(await page.locator('.upload.failed').count()).toBe(0);
    expect(await send.isEnabled()).toBe(true);
  });

  it('is left out of later requests to that model, and the answer names it', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('reader');
    await page.locator('input[type=file]').setInputFiles(notes);
    await page.locator('.upload').waitFor();
    await sendMessage('Read this');
    await readAnswer();
    await page.locator('.picker').click();
    await page.getByRole('dialog').getByText('Painter', { exact: true }).click();
    await sendMessage('Hello');
    const last = page.locator('.reply').nth(1);
    await last.getByText('Painter did not receive notes.txt, because').waitFor();
    expect(await last.locator(':scope > .markdown').textContent()).not.toBe('');
    expect(await page.locator('.answer-error').count()).toBe(0);
  });
});

describe('a message that the upstream rejects', () => {
  it('shows the reason, is not part of later requests, and can be sent again without its file', async () => {
    fixture.upstream.script(
      errorReply(400, {}, { message: 'Files of type text/plain are not supported.' }),
      eventsReply(...plainReply('Fine.')),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    const start = fixture.upstream.requests.length;
    await page.locator('input[type=file]').setInputFiles(notes);
    await page.locator('.upload').waitFor();
    await sendMessage('Read this');
    await page.locator('.answer-error-reason').getByText('Files of type text/plain are not supported.').waitFor();
    await sendMessage('Then without it');
    expect(await readAnswer()).toBe('Fine.');
    const { body: later } = await fixture.upstream.request(start + 1);
    expect(later.messages).toEqual([{ role: 'user', content: 'Then without it' }]);
    await page.locator('.question').first().hover();
    await page.locator('.question').first().getByRole('button', { name: 'Edit and ask again' }).click();
    await page.locator('.editor').getByRole('button', { name: 'Remove notes.txt' }).click();
    await page.locator('.editor').getByRole('button', { name: 'Ask again' }).click();
    const { body: edited } = await fixture.upstream.request(start + 2);
    expect(edited.messages).toEqual([{ role: 'user', content: 'Read this' }]);
  });
});
