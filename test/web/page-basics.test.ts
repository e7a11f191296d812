import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta } from '#test/chunks.ts';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

// Viewports of a phone and a small laptop, without the toolbars of the browser.
const phone = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };
const laptop = { viewport: { width: 1280, height: 640 } };

/** Returns by how many pixels the content is wider than the element. */
function measureOverhang(locator: Locator): Promise<number> {
  return locator.evaluate((it) => {
    const { scrollWidth, clientWidth } = it as unknown as { scrollWidth: number; clientWidth: number };
    return scrollWidth - clientWidth;
  });
}

it('breaks a long word in a question, so that it stays inside the chat', async () => {
  const { page, sendMessage, readAnswer } = await fixture.open('demo', laptop);
  await sendMessage(`${'W'.repeat(400)} https://example.org/${'x'.repeat(300)}`);
  await readAnswer();
  const [body, thread] = await Promise.all([page.locator('.question-body').boundingBox(), page.locator('.turns').boundingBox()]);
  expect((body?.x ?? 0) + (body?.width ?? 0)).toBeLessThanOrEqual((thread?.x ?? 0) + (thread?.width ?? 0));
  expect(await measureOverhang(page.locator('.thread'))).toBe(0);
});

it.each([
  ['a laptop', laptop],
  ['a phone', phone],
])('shows all settings, including the sign-out button, on the screen: %s', async (_name, options) => {
  const { page } = await fixture.open('demo', options);
  if (options === phone) await page.getByRole('button', { name: 'Show chats' }).click();
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  for (const name of ['Display and notifications', 'Sign out']) {
    const box = await page.getByRole('button', { name }).boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(options.viewport.height);
  }
});

it('shows the start view from the top and without overlaps if the window is short', async () => {
  const { page } = await fixture.open('assistant', { viewport: { width: 390, height: 420 } });
  await page.locator('.other-deployment').first().waitFor();
  const getBox = async (selector: string) => (await page.locator(selector).first().boundingBox()) ?? { y: -1, height: 0 };
  const [icon, header, starters, others] = await Promise.all(
    ['.start-view > *', '.page-header', '.starters', '.other-deployments'].map(getBox),
  );
  expect(icon?.y).toBeGreaterThanOrEqual((header?.y ?? 0) + (header?.height ?? 0));
  const last = await page.locator('.starter').last().boundingBox();
  expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual((starters?.y ?? 0) + (starters?.height ?? 0));
  expect((starters?.y ?? 0) + (starters?.height ?? 0)).toBeLessThanOrEqual(others?.y ?? 0);
});

it('opens a new chat if a key link is opened in a tab with a session', async () => {
  const { page } = await fixture.open('demo');
  // Changing the language renders the sign-in component again, and it registers its listener after the router.
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  for (const language of ['Deutsch', 'English']) {
    await page.getByLabel(language).click({ force: true });
    await page.getByRole('link', { name: language === 'Deutsch' ? 'Neues Gespräch' : 'New chat' }).waitFor();
  }
  const userResponse = page.waitForResponse('**/v1/user/info');
  await page.evaluate(`location.hash = '#key=${callerKey}'`);
  await userResponse;
  await page.locator('#message').waitFor();
  expect(await page.getByText('This page does not exist').count()).toBe(0);
});

it('tells a user without a session that a shared chat opens after sign-in', async () => {
  const { page } = await fixture.openAt('/#/shared/some-token');
  await page.getByText('Someone shared a chat with you. Sign in to read it.').waitFor();
  const plain = await fixture.openAt('/');
  await plain.page.getByLabel('Key').waitFor();
  expect(await plain.page.getByText('Someone shared a chat').count()).toBe(0);
});

describe('the focus', () => {
  it('returns to the message field after the user requests another answer', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Hello');
    await readAnswer();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.reply .branches').waitFor();
    await readAnswer();
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
  });

  it('returns to the message field after the user gives consent, and the permissions page lists the consent', async () => {
    const { page, readAnswer } = await fixture.open('assistant');
    await page.getByRole('button', { name: 'Look into my mailbox' }).click();
    await readAnswer();
    await page.getByRole('button', { name: 'Agree and continue' }).click();
    await page.locator('.reply .branches').waitFor();
    await readAnswer();
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
    await page.getByRole('link', { name: 'Permissions', exact: true }).click();
    await page.getByText(/^Since .+ \d{4}, it can use “Mailbox”\.$/).waitFor();
  });
});

describe('the layout of controls', () => {
  const middle = async (locator: Locator): Promise<number> => {
    const box = await locator.boundingBox();
    return (box?.y ?? Number.NaN) + (box?.height ?? 0) / 2;
  };

  it('aligns a starter in the builder with its remove button', async () => {
    const { page } = await fixture.open('demo', laptop);
    await page.evaluate("location.hash = '#/build/new'");
    await page.getByRole('button', { name: 'Add a suggestion' }).click();
    const line = page.locator('.builder-line').first();
    expect(await middle(line.locator('.icon-button'))).toBeCloseTo(await middle(line.locator('input')), 0);
  });

  it('scrolls only the form in the builder, not the window', async () => {
    const { page } = await fixture.open('demo', laptop);
    await page.evaluate("location.hash = '#/build/new'");
    for (let count = 1; count <= 3; count += 1) {
      await page.getByRole('button', { name: 'Add a suggestion' }).click();
      await page
        .locator('.builder-line')
        .nth(count - 1)
        .waitFor();
    }
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0);
  });

  it('gives all options of a group the same height, and the window does not scroll', async () => {
    const { page } = await fixture.open('demo', laptop);
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0);
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Display and notifications' }).click();
    const choices = page.getByRole('group', { name: 'Dictation' }).locator('span');
    await choices.first().waitFor();
    const heights = await Promise.all((await choices.all()).map(async (each) => (await each.boundingBox())?.height));
    expect(new Set(heights).size).toBe(1);
  });
});

it('wraps the lines of an attached text file', async () => {
  const { page, sendMessage, readAnswer } = await fixture.open('demo', laptop);
  const buffer = Buffer.from(`${'The library cat sleeps on the third shelf. '.repeat(20)}\n`);
  await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer });
  await page.getByText('notes.txt').waitFor();
  await sendMessage('Where does the cat sleep?');
  await readAnswer();
  await page.locator('.question').getByRole('button', { name: 'notes.txt', expanded: false }).click();
  const code = page.locator('.question .code-block pre');
  await code.waitFor();
  expect(await measureOverhang(code)).toBe(0);
});

it('rejects a prompt without a name or a text and focuses the missing field', async () => {
  const { page } = await fixture.open('demo');
  await page.locator('#message').fill('/');
  await page.getByRole('option', { selected: true }).waitFor();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  const name = dialog.getByLabel('Name');
  expect(await page.evaluate('document.activeElement.id')).toBe(await name.getAttribute('id'));
  await name.fill('Trip');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  expect(await page.evaluate('document.activeElement.id')).toBe(await dialog.getByLabel('Text').getAttribute('id'));
});

it('does not mark a stage as done if the user stopped the answer', async () => {
  const { page, sendMessage } = await fixture.open('scripted');
  fixture.upstream.script(async (exchange) => {
    exchange.head();
    await exchange.events(delta({ role: 'assistant', content: '' }));
    await exchange.events(delta({ custom_content: { stages: [{ index: 0, name: 'Look', status: null }] } }));
  });
  await sendMessage('Hello');
  await page.getByText('Look').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('You stopped this answer.').waitFor();
  expect(await page.locator('.stages > summary .stage-dot').getAttribute('class')).toBe('stage-dot unfinished');
});

it('shows the usage of the current month after one choice', async () => {
  const { page } = await fixture.open('demo');
  await page.getByRole('link', { name: 'Usage' }).click();
  const monthRequest = page.waitForRequest((request) => /\/v1\/.*usage\?.*from=\d{4}-\d\d-01\b/.test(request.url()));
  await page.getByRole('radio', { name: 'This month' }).check({ force: true });
  await monthRequest;
});

it('shows no error if the user signs out and in again in one tab', async () => {
  const { page, issues } = await fixture.openAt(`/#key=${callerKey}`, { serviceWorkers: 'allow' });
  const isRegistered = () =>
    page.evaluate('navigator.serviceWorker.getRegistration().then((registration) => registration !== undefined)');
  await expect.poll(isRegistered, { timeout: 30_000 }).toBe(true);
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('.question-dialog .danger').click();
  await page.getByLabel('Key').fill(callerKey);
  await page.keyboard.press('Enter');
  await page.locator('#message').waitFor();
  // The page registers its service worker three seconds after sign-in.
  await page.waitForTimeout(4_000);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
