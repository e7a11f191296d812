import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const readConsent = async () => {
  const { json } = await fixture.service.sendRequest({
    method: 'GET',
    path: '/v1/consent/assistant',
    headers: { 'api-key': callerKey },
  });
  return (json as { accepted: boolean }).accepted;
};

it('marks deployments that need consent in the model picker', async () => {
  const { page } = await fixture.open('demo');
  await page.locator('.picker').click();
  await page.locator('.option', { hasText: 'Mailbox' }).getByText('Asks for permission first').waitFor();
  expect(await page.locator('.option').count()).toBe(5);
  expect(await page.getByText('Asks for permission first').count()).toBe(1);
});

it('links from a step without consent to the consent form and back, retries the message, and lets the user withdraw the consent', async () => {
  const { page, readAnswer, issues } = await fixture.open('assistant');
  await page
    .locator('.banner')
    .getByText('If you agree, “Assistant” shares your messages and attached files with “Mailbox”')
    .waitFor();
  await page.getByRole('button', { name: 'Look into my mailbox' }).click();
  const rejection = await readAnswer();
  expect(rejection).toContain('needs your consent');
  expect(rejection).not.toContain('/v1/');
  await page.getByText('A step was rejected. “Assistant” needs your permission to use “Mailbox”.').waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).innerText()).toBe('Try again');
  await page.locator('.stages > summary').click();
  await page
    .locator('.stage', { has: page.locator('.stage-dot.failed') })
    .locator('summary')
    .click();
  await page.locator('.stage-body').getByText('Mailbox needs your consent before Assistant may use it').waitFor();
  expect(await page.locator('.stage-body').innerText()).not.toContain('/v1/');
  await page.getByRole('link', { name: 'Review permissions' }).click();
  await page.getByRole('heading', { name: 'Allow “Assistant” to act on your behalf?' }).waitFor();
  await page.getByRole('img', { name: 'What Assistant uses' }).waitFor();
  expect(await page.locator('.consent-dependencies.needs-consent li').allTextContents()).toEqual(['Mailbox']);
  await page.getByRole('button', { name: 'Agree' }).click();
  await page.locator('.question-text').getByText('Look into my mailbox').waitFor();
  await page.locator('.reply .branches').waitFor();
  expect(await readConsent()).toBe(true);
  expect(await readAnswer()).not.toContain('needs your consent');
  expect(await page.locator('.banner').count()).toBe(0);

  await page.getByRole('link', { name: 'Permissions', exact: true }).click();
  await page.getByRole('button', { name: 'Withdraw: Assistant' }).click();
  await page.getByText('You have not given any permissions.').waitFor();
  expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
  expect(await readConsent()).toBe(false);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('retries the message automatically after the user agrees in the chat', async () => {
  const { page, readAnswer } = await fixture.open('assistant');
  await page.getByRole('button', { name: 'Look into my mailbox' }).click();
  await readAnswer();
  await page.locator('.banner').getByRole('button', { name: 'Agree and continue' }).click();
  await page.locator('.reply .branches').waitFor();
  expect(await readAnswer()).not.toContain('needs your consent');
  expect(await page.locator('.question').count()).toBe(1);
  expect(await page.locator('.banner').count()).toBe(0);
  await fixture.service.sendRequest({ method: 'DELETE', path: '/v1/consent/assistant', headers: { 'api-key': callerKey } });
});

it('stores no consent if the user declines or chooses “Later”', async () => {
  const { page } = await fixture.open('assistant');
  await page.getByRole('button', { name: 'Later' }).click();
  expect(await page.locator('.banner').count()).toBe(0);
  await page.evaluate("location.hash = '#/consent/assistant'");
  await page.getByRole('button', { name: 'Decline' }).click();
  await page.locator('.starter').first().waitFor();
  expect(await readConsent()).toBe(false);
});

it('shows the consent form after a rejected call and retries the message automatically', async () => {
  await using strict = await startPageFixture({ consent: { directCalls: 'require' } });
  const { page, sendMessage, readAnswer } = await strict.open('mailbox');
  await sendMessage('Hello');
  await page.locator('.answer-error').getByText('“Mailbox” needs your permission before it answers.').waitFor();
  expect(await page.locator('.reply').innerText()).not.toContain('/v1/');
  expect(await page.getByRole('button', { name: 'Try again' }).innerText()).toBe('Try again');
  await page.locator('.answer-error').getByText('If you agree, “Mailbox” acts on your behalf').waitFor();
  await page.locator('.answer-error').getByRole('link', { name: 'Review permissions' }).click();
  await page.getByRole('heading', { name: 'Allow “Mailbox” to act on your behalf?' }).waitFor();
  await page.getByText('“Mailbox” acts on your behalf and needs your permission first.').waitFor();
  expect(await page.locator('.consent-dependencies.needs-consent').count()).toBe(0);
  await page.getByRole('link', { name: 'Back to the chat' }).click();
  await page.locator('.answer-error').getByRole('button', { name: 'Agree and continue' }).click();
  await page.locator('.reply .branches').waitFor();
  expect(await readAnswer()).toContain('Hello');
  expect(await page.locator('.question').count()).toBe(1);
});

it('explains that a deployment of a consent form does not exist', async () => {
  const { page } = await fixture.open('demo');
  await page.evaluate("location.hash = '#/consent/nobody'");
  await page.getByRole('alert').getByText('This model or application is no longer available.').waitFor();
});

it('shows on the consent form that the user accepted it, and offers to withdraw', async () => {
  const { page } = await fixture.open('assistant');
  await page.evaluate("location.hash = '#/consent/assistant'");
  await page.getByRole('button', { name: 'Agree' }).click();
  await page.locator('.starter').first().waitFor();
  await page.evaluate("location.hash = '#/consent/assistant'");
  await page.getByText('You have agreed. “Assistant” can act on your behalf.').waitFor();
  await page.getByRole('button', { name: 'Withdraw' }).click();
  await page.locator('.starter').first().waitFor();
  expect(await readConsent()).toBe(false);
});
