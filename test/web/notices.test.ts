import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PageFixture, startPageFixture, type TestPage } from './support.ts';
import { findViolations } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

/**
 * Fakes the Notification API, which the headless shell lacks. The fake records notifications, and `isFocused` is the result of
 * `document.hasFocus()`.
 */
const fakeNotifications = `
  globalThis.notifications = [];
  let permission = 'default';
  globalThis.Notification = class {
    static get permission() { return permission; }
    static async requestPermission() { return (permission = globalThis.nextPermission ?? 'granted'); }
    constructor(title, options) { notifications.push({ title, ...options, notice: this }); }
    close() {}
  };
  globalThis.isFocused = true;
  document.hasFocus = () => globalThis.isFocused;
`;

const readNotifications = (page: Page) => page.evaluate('notifications.map(({ title, body }) => ({ title, body }))');

async function openWithNotifications(): Promise<TestPage> {
  const testPage = await fixture.open('demo');
  await testPage.page.evaluate(fakeNotifications);
  return testPage;
}

async function turnOnNotifications({ page }: TestPage): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Display and notifications' }).click();
  await page.getByRole('dialog').getByLabel('Notify me', { exact: true }).click();
}

describe('the notification about an answer', () => {
  it('appears if the page does not have focus, and a click opens the chat', async () => {
    const opened = await openWithNotifications();
    const { page } = opened;
    await turnOnNotifications(opened);
    await expect.poll(() => page.getByLabel('Notify me', { exact: true }).isChecked()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await opened.sendMessage('While I look');
    await opened.readAnswer();
    expect(await readNotifications(page)).toEqual([]);
    await page.evaluate('isFocused = false');
    await opened.sendMessage('While I am away');
    await expect.poll(() => readNotifications(page)).toEqual([{ title: 'Demo has answered', body: 'While I look' }]);
    const chatHash = await page.evaluate('location.hash');
    await page.evaluate("location.hash = '#/usage'");
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.evaluate('notifications[0].notice.onclick()');
    await page.locator('.question', { hasText: 'While I am away' }).waitFor();
    expect(await page.evaluate('location.hash')).toBe(chatHash);
    expect(opened.issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('does not appear if the browser blocks notifications or the user has not turned them on', async () => {
    const opened = await openWithNotifications();
    const { page } = opened;
    await page.evaluate("isFocused = false; nextPermission = 'denied'");
    await turnOnNotifications(opened);
    await page.getByText('The browser blocks notifications').waitFor();
    expect(await page.getByLabel('Notify me', { exact: true }).isChecked()).toBe(false);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.evaluate("Notification.requestPermission(nextPermission = 'granted')");
    await opened.sendMessage('No notification');
    await opened.readAnswer();
    expect(await readNotifications(page)).toEqual([]);
  });
});
