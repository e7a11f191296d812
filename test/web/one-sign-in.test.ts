import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture({ keys: { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } } });
});

afterAll(() => fixture[Symbol.asyncDispose]());

describe('a sign-in', () => {
  it('survives a double click on the settings, serves all tabs, and ends in all of them after a question', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('Count to 2');
    await readAnswer();
    await page.getByRole('button', { name: 'Settings', exact: true }).dblclick();
    expect(await page.evaluate('getSelection().toString()')).toBe('');
    const settings = page.getByRole('dialog', { name: 'Settings' });
    await settings.getByRole('button', { name: 'Sign out' }).click();
    const question = page.getByRole('dialog', { name: 'Do you want to sign out? You need the key to sign in again.' });
    await question.getByRole('button', { name: 'Cancel' }).click();

    const opening = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Count to 2' }).click({ modifiers: ['Control'] });
    const other = await opening;
    await other.locator('.question-text').getByText('Count to 2').waitFor();
    expect(await other.evaluate('localStorage.getItem("parley key")')).toBe(null);

    await other.getByRole('button', { name: 'Settings', exact: true }).click();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('dialog', { name: 'Do you want to sign out?' }).getByRole('button', { name: 'Sign out' }).click();
    await other.getByLabel('Key').waitFor();
    await page.getByLabel('Key').waitFor();
  });

  it('reaches a tab that opens just before the tab with the sign-in reloads', async () => {
    const { page } = await fixture.open('demo');
    await page.goto('about:blank');
    const other = await page.context().newPage();
    await other.goto(fixture.service.url);
    await other.getByLabel('Key').waitFor();
    await page.goBack();
    await page.locator('#message').waitFor();
    await other.locator('#message').waitFor();
  });

  it('is used once if several tabs share it', async () => {
    const { page } = await fixture.openAt('/');
    await page.getByLabel('Key').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${fixture.service.url}/robots.txt`);
    let requests = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/user/info')) requests += 1;
    });
    const shared = { kind: 'key', key: callerKey, isPersistent: false, user: 'key:test' };
    const message = JSON.stringify({ kind: 'answer', shared });
    const channels = "Array(3).fill(new BroadcastChannel('parley sign-in /'))";
    await other.evaluate(`${channels}.forEach((channel) => channel.postMessage(${message}))`);
    await page.locator('#message').waitFor();
    expect(requests).toBe(1);
  });

  it('of another tab is used even if an earlier one was rejected', async () => {
    const { page } = await fixture.openAt('/');
    await page.getByLabel('Key').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${fixture.service.url}/robots.txt`);
    const share = (key: string): Promise<void> => {
      const message = { kind: 'answer', shared: { kind: 'key', key, isPersistent: false, user: 'key:test' } };
      return other.evaluate(`new BroadcastChannel('parley sign-in /').postMessage(${JSON.stringify(message)})`);
    };
    await share('rejected-key');
    await page.getByRole('alert').filter({ hasText: /./ }).waitFor();
    await share(callerKey);
    await page.locator('#message').waitFor();
  });

  it('of another user is not used after the user signs out', async () => {
    const { page } = await fixture.open('demo');
    const other = await page.context().newPage();
    await other.goto(`${fixture.service.url}/#key=other-key`);
    await other.getByRole('button', { name: 'Switch' }).click();
    await expect.poll(() => other.evaluate("sessionStorage['parley key']")).toBe('other-key');
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog', { name: 'Do you want to sign out?' }).getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Key').fill(callerKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('#message').waitFor();
    expect(await page.evaluate("sessionStorage['parley key']")).toBe(callerKey);
  });

  it('is stored in the browser only if the user chooses it', async () => {
    const { page } = await fixture.openAt('/');
    await page.getByLabel('Key').fill(callerKey);
    await page.getByLabel('Keep me signed in').check();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('#message').waitFor();
    const { url } = fixture.service;
    await page.goto('about:blank');
    const later = await page.context().newPage();
    await later.goto(url);
    await later.locator('#message').waitFor();
    await later.getByRole('button', { name: 'Settings', exact: true }).click();
    await later.getByRole('button', { name: 'Sign out' }).click();
    await later.getByRole('dialog', { name: 'Do you want to sign out?' }).getByRole('button', { name: 'Sign out' }).click();
    await later.getByLabel('Key').waitFor();
    expect(
      await later.evaluate('[localStorage, sessionStorage].filter((storage) => storage.getItem("parley key") !== null).length'),
    ).toBe(0);
  });
});
