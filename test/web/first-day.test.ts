import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type PageHouse, startPageHouse } from './support.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

// What is left of the screen between the bars of a phone's browser, and of a small laptop's.
const phone = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };
const laptop = { viewport: { width: 1280, height: 640 } };

it('A question of one long word is broken, and stays inside the conversation', async () => {
  const { page, say, answer } = await house.open('demo', laptop);
  await say(`${'W'.repeat(400)} https://example.org/${'x'.repeat(300)}`);
  await answer();
  const [body, thread] = await Promise.all([page.locator('.question-body').boundingBox(), page.locator('.turns').boundingBox()]);
  expect((body?.x ?? 0) + (body?.width ?? 0)).toBeLessThanOrEqual((thread?.x ?? 0) + (thread?.width ?? 0));
  expect(await page.locator('.thread').evaluate((it) => (it as unknown as { scrollWidth: number }).scrollWidth)).toBe(
    await page.locator('.thread').evaluate((it) => (it as unknown as { clientWidth: number }).clientWidth),
  );
});

it.each([
  ['a laptop', laptop],
  ['a phone', phone],
])('The settings are all in sight once they are opened, the way out too: %s', async (_name, options) => {
  const { page } = await house.open('demo', options);
  if (options === phone) await page.getByRole('button', { name: 'Show conversations' }).click();
  await page.locator('.settings > summary').click();
  for (const name of ['Display and notifications', 'Sign out']) {
    const box = await page.getByRole('button', { name }).boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(options.viewport.height);
  }
});

it('The beginning is read from its top, and nothing of it lies over anything else, however low the window is', async () => {
  const { page } = await house.open('assistant', { viewport: { width: 390, height: 420 } });
  await page.locator('.other').first().waitFor();
  const boxOf = async (selector: string) => (await page.locator(selector).first().boundingBox()) ?? { y: -1, height: 0 };
  const [icon, header, starters, others] = await Promise.all(['.beginning > *', '.page-header', '.starters', '.others'].map(boxOf));
  expect(icon?.y).toBeGreaterThanOrEqual((header?.y ?? 0) + (header?.height ?? 0));
  const last = await page.locator('.starter').last().boundingBox();
  expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual((starters?.y ?? 0) + (starters?.height ?? 0));
  expect((starters?.y ?? 0) + (starters?.height ?? 0)).toBeLessThanOrEqual(others?.y ?? 0);
});

it('A link with a key that comes to a tab where somebody is signed in leads to a new conversation, and no fault', async () => {
  const { page } = await house.open('demo');
  // Another language has the entrance listen anew, behind the place.
  await page.locator('.settings > summary').click();
  for (const language of ['Deutsch', 'English']) {
    await page.getByLabel(language).click({ force: true });
    await page.getByRole('link', { name: language === 'Deutsch' ? 'Neues Gespräch' : 'New conversation' }).waitFor();
  }
  const again = page.waitForResponse('**/v1/user/info');
  await page.evaluate(`location.hash = '#key=${callerKey}'`);
  await again;
  await page.locator('#message').waitFor();
  expect(await page.getByText('There is no such page here').count()).toBe(0);
});

it('Whoever opens a shared conversation and is not signed in is told that it waits', async () => {
  const { page } = await house.openAt('/#/shared/some-token');
  await page.getByText('Somebody shared a conversation with you. Sign in to read it.').waitFor();
  const plain = await house.openAt('/');
  await plain.page.getByLabel('Key').waitFor();
  expect(await plain.page.getByText('Somebody shared a conversation').count()).toBe(0);
});

describe('where one goes on writing', () => {
  it('is the message after an answer was asked for again', async () => {
    const { page, say, answer } = await house.open('demo');
    await say('Hello');
    await answer();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.reply .branches').waitFor();
    await answer();
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
  });

  it('is the message after a consent was given', async () => {
    const { page, answer } = await house.open('assistant');
    await page.getByRole('button', { name: 'Look into my mailbox' }).click();
    await answer();
    await page.getByRole('button', { name: 'Agree and go on' }).click();
    await page.locator('.reply .branches').waitFor();
    await answer();
    expect(await page.evaluate('document.activeElement.id')).toBe('message');
  });
});
