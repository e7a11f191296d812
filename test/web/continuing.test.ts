import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply, text } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const focusedId = 'document.activeElement.id';
const long = Array.from({ length: 60 }, (_, index) => `Line ${index} of a long answer.\n\n`).join('');
const properties = { name: { type: 'string' }, city: { type: 'string' } };
const form = { index: 0, label: 'Address', schema: { type: 'object', properties } };
const controls = [{ index: 0, label: 'Go on', schema: {} }];
/** Resolves after the next frame of the page. */
const nextFrame = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))';

/** The part of a DOM element that these tests use. The DOM types are not available here. */
interface ElementLike {
  readonly style: { height: string };
  readonly ownerDocument: { createElement(name: string): ElementLike };
  append(child: ElementLike): void;
  getBoundingClientRect(): unknown;
}

describe('the focus', () => {
  it('moves to the message after the choice of another deployment and after a control', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await page.locator('.other-deployment', { hasText: 'Scripted' }).click();
    expect(await page.evaluate(focusedId)).toBe('message');
    fixture.upstream.script(
      eventsReply(delta({ role: 'assistant', custom_content: { controls } }), text('Choose.'), finish()),
      eventsReply(...plainReply('Gone on.')),
    );
    await page.evaluate("location.hash = '#/?with=raw'");
    await page.locator('.picker', { hasText: 'Raw' }).waitFor();
    await sendMessage('Hello');
    await page.getByRole('button', { name: 'Go on' }).click();
    expect(await page.evaluate(focusedId)).toBe('message');
    expect(await readAnswer()).toBe('Gone on.');
  });
});

describe('pasting', () => {
  it('keeps the text and offers the picture that comes with it', async () => {
    const { page } = await fixture.open('demo');
    const paste = `((clipboardData) => (
      clipboardData.items.add(new File(['x'], 'table.png', { type: 'image/png' })),
      clipboardData.setData('text/plain', '1\\t2'),
      document.querySelector('#message').dispatchEvent(
        new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }),
      )
    ))(new DataTransfer())`;
    const isTextInserted = await page.evaluate(paste);
    expect(isTextInserted).toBe(true);
    await page.getByText('The clipboard also has a picture.').waitFor();
    expect(await page.locator('.upload').count()).toBe(0);
    await page.getByRole('button', { name: 'Attach the picture' }).click();
    await page.locator('.upload', { hasText: 'table.png' }).waitFor();
  });

  it('does not send on an Enter that confirms an input method', async () => {
    const { page } = await fixture.open('demo');
    await page.locator('#message').fill('にほん');
    const session = await page.context().newCDPSession(page);
    await session.send('Input.imeSetComposition', { text: '日本', selectionStart: 2, selectionEnd: 2 });
    await session.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      key: 'Process',
      code: 'Enter',
      windowsVirtualKeyCode: 229,
    });
    expect(await page.locator('.question').count()).toBe(0);
  });
});

describe('a dialog with a text field', () => {
  it.each(['New project', 'Chat settings'])('keeps the text if the user clicks outside: %s', async (name) => {
    const { page } = await fixture.open('demo');
    await page.getByRole('button', { name }).click();
    const field = page.getByRole('dialog', { name }).getByRole('textbox').first();
    await field.fill('Long text');
    await page.mouse.click(5, 5);
    expect(await field.inputValue({ timeout: 5_000 })).toBe('Long text');
  });
});

describe('the end of a chat', () => {
  it('is followed after a long answer, hints at controls below the view, and keeps an opened editor in view', async () => {
    fixture.upstream.script(
      eventsReply(...plainReply(long)),
      eventsReply(delta({ role: 'assistant', custom_content: { controls: [form] } }), text(long), finish()),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    await sendMessage('A long one');
    await readAnswer();
    await page.locator('.thread').evaluate((thread: { scrollTop: number }) => {
      thread.scrollTop = 0;
    });
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    await sendMessage('Another');
    await readAnswer();
    const hint = page.getByRole('button', { name: 'Options below' });
    await hint.click();
    expect(await page.getByLabel('City').isVisible()).toBe(true);
    await hint.waitFor({ state: 'detached' });
    const getBottom = async (selector: string): Promise<number> => {
      const { y = 0, height = 0 } = (await page.locator(selector).boundingBox()) ?? {};
      return y + height;
    };
    await expect.poll(() => page.evaluate('document.activeElement.closest(".controls") !== null')).toBe(true);
    await page.locator('#message').press('ArrowUp');
    await page.locator('.editor').waitFor();
    await expect.poll(async () => (await getBottom('.editor')) <= (await getBottom('.thread')) + 1).toBe(true);
  });

  it('is followed if an answer shrinks and grows in one frame, as while a diagram is drawn', async () => {
    fixture.upstream.script(eventsReply(...plainReply(long)));
    const { page, sendMessage, readAnswer } = await fixture.open('raw');
    await sendMessage('A long one');
    await readAnswer();
    await page.locator('.reply > .markdown').evaluate((answer: ElementLike) => {
      const part = answer.ownerDocument.createElement('div');
      part.style.height = '900px';
      answer.append(part);
    });
    for (let frame = 0; frame < 2; frame += 1) await page.evaluate(nextFrame);
    await page.locator('.reply > .markdown > div:last-child').evaluate((part: ElementLike) => {
      part.style.height = '300px';
      // The layout of the shorter answer scrolls the view up.
      part.getBoundingClientRect();
      part.style.height = '600px';
    });
    for (let frame = 0; frame < 2; frame += 1) await page.evaluate(nextFrame);
    expect(await page.getByRole('button', { name: 'Jump to latest' }).count()).toBe(0);
  });
});
