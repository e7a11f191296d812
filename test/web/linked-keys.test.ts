import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations, viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture({
    keys: {
      [callerKey]: { project: 'test' },
      'same-user-key': { project: 'test' },
      'other-key': { project: 'other' },
    },
  });
});

afterAll(() => fixture[Symbol.asyncDispose]());

const follow = (page: TestPage['page'], key: string) => page.evaluate(`location.hash = '#key=${key}'`);
const readSessionKey = (page: TestPage['page']) => page.evaluate("sessionStorage['parley key']");
const getDialog = (page: TestPage['page']) => page.locator('dialog.question-dialog');

async function openSignedIn(options = {}): Promise<TestPage> {
  const opened = await fixture.openAt(`/#key=${callerKey}`, options);
  await opened.page.locator('#message').waitFor();
  return opened;
}

describe('a link with a key', () => {
  it('signs in directly if the tab has no session, and removes the key from the URL', async () => {
    const { page } = await openSignedIn();
    expect(page.url()).not.toContain('key');
    expect(await readSessionKey(page)).toBe(callerKey);
  });

  it('asks for confirmation in a new tab if another tab of the browser has a session', async () => {
    const { page } = await openSignedIn();
    const opened = await page.context().newPage();
    await opened.goto(`${fixture.service.url}/#key=other-key`);
    await getDialog(opened).waitFor();
    expect([opened.url().includes('key'), await readSessionKey(opened)]).toEqual([false, callerKey]);
    await opened.getByRole('button', { name: 'Switch' }).click();
    await expect.poll(() => readSessionKey(opened)).toBe('other-key');
    expect(await readSessionKey(page)).toBe(callerKey);
    await opened.close();
  });

  it('asks before it replaces a live session, and Stay keeps the session', async () => {
    const { page, issues } = await openSignedIn();
    await follow(page, 'other-key');
    await getDialog(page).waitFor();
    expect(page.url()).not.toContain('key');
    expect(await getDialog(page).locator('p').textContent()).toBe(
      'You are signed in as test (key). This link signs you in as other (key). Do you want to switch?',
    );
    expect(await readSessionKey(page)).toBe(callerKey);
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await getDialog(page).waitFor({ state: 'detached' });
    expect(await readSessionKey(page)).toBe(callerKey);
    await page.reload();
    await page.locator('#message').waitFor();
    expect([await readSessionKey(page), await getDialog(page).count()]).toEqual([callerKey, 0]);
    await page.goBack();
    expect(page.url()).not.toContain('other-key');
    expect(issues.errors).toEqual([]);
  });

  it('switches the session if the user agrees', async () => {
    const { page } = await openSignedIn();
    await follow(page, 'other-key');
    const switchRequest = page.waitForRequest(
      (request) => request.headers()['api-key'] === 'other-key' && /v1\/chats/.test(request.url()),
    );
    await page.getByRole('button', { name: 'Switch' }).click();
    await switchRequest;
    await expect.poll(() => readSessionKey(page)).toBe('other-key');
  });

  it('asks for confirmation if the link reopens the tab', async () => {
    const { page } = await openSignedIn();
    await page.goto('about:blank');
    await page.goto(`${fixture.service.url}/#key=other-key`);
    await getDialog(page).waitFor();
    expect(page.url()).not.toContain('key');
    expect(await readSessionKey(page)).toBe(callerKey);
    await page.keyboard.press('Escape');
    await getDialog(page).waitFor({ state: 'detached' });
    expect(await readSessionKey(page)).toBe(callerKey);
  });

  it('keeps the session if the service does not accept the linked key', async () => {
    const { page } = await openSignedIn();
    await follow(page, 'unknown-key');
    expect(await getDialog(page).locator('p').textContent()).toBe(
      'The key in this link doesn’t work. You stay signed in as test (key).',
    );
    expect(await getDialog(page).locator('button').count()).toBe(1);
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    expect(await readSessionKey(page)).toBe(callerKey);
  });

  it('does not ask if another key belongs to the current user', async () => {
    const { page } = await openSignedIn();
    await follow(page, 'same-user-key');
    await expect.poll(() => readSessionKey(page)).toBe('same-user-key');
    expect(await getDialog(page).count()).toBe(0);
  });

  it('signs in directly if the session of the tab has ended', async () => {
    const { page } = await openSignedIn();
    await page.evaluate("sessionStorage['parley key'] = 'key of an earlier start'");
    await page.goto('about:blank');
    await page.goto(`${fixture.service.url}/#key=other-key`);
    await page.locator('#message').waitFor();
    expect(await readSessionKey(page)).toBe('other-key');
  });

  it.each(viewports)('asks in an accessible dialog: %s', async (name, options) => {
    const { page } = await openSignedIn(options);
    await follow(page, 'other-key');
    await getDialog(page).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const folder = process.env.PICTURES;
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
  });
});
