import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usersDemoPaceMs } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: PageFixture;
/** Uses a slow demo model, for the test that stops an answer. */
let paced: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
  paced = await startPageFixture({}, { demoPaceMs: usersDemoPaceMs });
});

afterAll(async () => {
  await paced[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

describe.each(viewports)('the chat page at the window size %s', (_look, options) => {
  it('has no accessibility violations on the sign-in form', async () => {
    const { page } = await fixture.openAt('/', options);
    await page.getByLabel('Key').waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it('has no accessibility violations or overflow in a chat, the model picker, and the consent page', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo', options);
    expect(await findViolations(page)).toEqual([]);
    await sendMessage(`Show me everything ${'long'.repeat(60)}`);
    await readAnswer();
    expect(await measureOverflow(page), 'the page has no horizontal overflow').toBe(0);
    await page.locator('.stages > summary').click();
    for (const stage of await page.locator('.stage > summary').all()) await stage.click();
    await page.locator('.usage > summary').click();
    expect(await findViolations(page)).toEqual([]);
    await page.locator('.picker').click();
    await page.getByRole('dialog').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.evaluate("location.hash = '#/consent/assistant'");
    await page.locator('.consent-graph').waitFor();
    expect(await findViolations(page)).toEqual([]);
    if (await page.getByRole('button', { name: 'Show chats' }).isVisible()) {
      await page.getByRole('button', { name: 'Show chats' }).click();
    }
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    expect(await findViolations(page)).toEqual([]);
  });
});

describe('the chat page with a keyboard only', () => {
  it('lets a user choose a deployment, send a message, stop the answer, and send another message', async () => {
    const { page, readAnswer } = await paced.open('assistant');
    await page.locator('.picker').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('demo');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('.start-view').getByText('Answers by rules.').waitFor();
    await page.locator('#message').focus();
    await page.keyboard.type('Count to 700');
    await page.keyboard.press('Enter');
    await page.locator('.markdown').getByText('1 2 3').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Stop');
    await page.keyboard.press('Space');
    expect(await readAnswer()).toMatch(/^1 2 3/);
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    await page.keyboard.type('Show me controls');
    await page.keyboard.press('Enter');
    await readAnswer();
    await page.getByRole('button', { name: 'red' }).focus();
    await page.keyboard.press('Enter');
    expect(await readAnswer()).toContain('{"color":"red"}');
  });

  it('offers a skip link to the message field as the first focusable element', async () => {
    const { page } = await fixture.open('demo');
    await page.locator(':is(a, button, input)').first().focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
  });
});

/** Closes the dialog and presses its button before the browser dispatches the close event. */
const reopenScript = `(async () => {
  const first = document.querySelector('.picker-dialog');
  const ended = new Promise((resolve) => first.addEventListener('close', resolve));
  first.requestClose();
  await undefined;
  document.querySelector('.picker').click();
  await ended;
  await new Promise(requestAnimationFrame);
  return document.querySelector('.picker-dialog')?.open ?? false;
})()`;

describe('dialogs and the sidebar drawer', () => {
  const focused = '(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()';

  it('keeps the focus in the drawer on a phone and returns it when Escape closes the drawer', async () => {
    const { page } = await fixture.open('demo', { viewport: { width: 390, height: 800 } });
    await page.getByRole('button', { name: 'Show chats' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.sidebar.open').waitFor();
    expect(await page.evaluate(focused)).toBe('Parley');
    for (let step = 0; step < 30; step += 1) {
      await page.keyboard.press('Tab');
      expect(
        await page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('.sidebar')"),
      ).toBe(true);
    }
    const isOutOfReach = "document.querySelector('#message').closest('[inert]') !== null";
    expect(await page.evaluate(isOutOfReach)).toBe(true);
    await page.keyboard.press('Escape');
    await page.locator('.sidebar.open').waitFor({ state: 'detached' });
    expect(await page.evaluate(focused)).toBe('Show chats');
    expect(await page.evaluate(isOutOfReach)).toBe(false);
    await page.getByRole('button', { name: 'Show chats' }).click();
    await page.locator('.sidebar-backdrop').click({ position: { x: 380, y: 400 } });
    await page.locator('.sidebar.open').waitFor({ state: 'detached' });
    expect(await page.evaluate(focused)).toBe('Show chats');
  });

  it('returns the focus from the model picker after Escape and moves it to the message field after a choice', async () => {
    const { page } = await fixture.open('demo');
    await page.locator('.picker').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.className')).toBe('picker');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('searchbox').waitFor();
    await page.keyboard.type('mail');
    await page.keyboard.press('Enter');
    await page.locator('.picker', { hasText: 'Mailbox' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
  });

  it('reopens the model picker before the browser dispatches its close event', async () => {
    const { page } = await fixture.open('demo');
    await page.locator('.picker').click();
    await page.getByRole('dialog').waitFor();
    expect(await page.evaluate(reopenScript)).toBe(true);
  });

  it('returns the focus to the edit button if the user cancels the edit', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Count to 2');
    await readAnswer();
    await page.getByRole('button', { name: 'Edit and ask again' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    expect(await page.evaluate(focused)).toBe('Edit and ask again');
  });
});

describe('the status region for screen readers', () => {
  it('announces only the start and the end of an answer', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await page.evaluate(`{
      globalThis.heard = [];
      const status = document.querySelector('[role=status]');
      new MutationObserver(() => heard.push(status.textContent)).observe(status, { subtree: true, childList: true, characterData: true });
    }`);
    await sendMessage('Count to 30');
    await readAnswer();
    expect(await page.evaluate('heard')).toEqual(['Demo is answering.', 'The answer is complete, 30 words.']);
    expect(await page.locator('.thread [aria-live], .thread [role=log], .thread [role=alert]').count()).toBe(0);
  });

  it('announces in German on a German page', async () => {
    const { page, sendMessage } = await fixture.open('demo', { locale: 'de-DE' });
    await sendMessage('Hello');
    await page.getByRole('status').getByText('Demo antwortet.').or(page.getByRole('status').getByText('vollständig')).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('de');
  });
});
