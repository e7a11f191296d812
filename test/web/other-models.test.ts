import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply, text } from '#test/chunks.ts';
import { eventsReply, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

let fixture: PageFixture;
let largeService: TestService;

beforeAll(async () => {
  fixture = await startPageFixture();
  const withoutTools = { features: { toolsSupported: false } };
  const demo = { upstreams: [{ protocol: 'demo' }] };
  const models = Object.fromEntries(
    Array.from({ length: 300 }, (_, nth) => [`m${nth}`, { displayName: `Model ${nth}`, ...withoutTools, ...demo }]),
  );
  const knownModels = {
    reader: {
      displayName: 'Reader',
      ...{ pricing: { prompt: 0.0000025, completion: 0.00001 }, limits: { maxTotalTokens: 128_000 } },
      inputAttachmentTypes: ['image/*'],
      ...withoutTools,
      ...demo,
    },
    ...{
      novel9: { displayName: 'Novel', displayVersion: '9', ...withoutTools, ...demo },
      novel10: { displayName: 'Novel', displayVersion: '10', ...withoutTools, ...demo },
    },
    caller: { displayName: 'Caller', features: { toolsSupported: true }, ...demo },
  };
  largeService = await startService({ models: { ...models, ...knownModels } });
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await largeService.close();
});

const names = '.picker-body .option-name';

describe('the model picker with 300 deployments', () => {
  it('lists favorites and recently used deployments first, filters by kind, and shows prices and context sizes', async () => {
    const { page, sendMessage, readAnswer, issues } = await fixture.browser.open(`${largeService.url}/#key=${callerKey}`);
    await page.locator('#message').waitFor();
    const open = async () => {
      await page.locator('.picker').click();
      return page.getByRole('dialog', { name: 'Choose a model or application' });
    };
    let dialog = await open();
    await dialog.getByRole('radio', { name: 'Use tools' }).check({ force: true });
    expect(await page.locator(names).allTextContents()).toEqual(['Caller']);
    await dialog.getByRole('radio', { name: 'Accept files' }).check({ force: true });
    expect(await page.locator(names).allTextContents()).toEqual(['Reader']);
    await dialog.getByText('$2.50 input, $10.00 output per million tokens · reads up to 128,000 tokens').waitFor();
    await dialog.getByRole('button', { name: 'Add Reader to favorites' }).click();
    await page.keyboard.press('Escape');
    dialog = await open();
    expect(await dialog.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual(['Favorites', 'From this service']);
    expect(await page.locator(names).first().textContent()).toBe('Reader');
    await page.keyboard.type('model 77');
    await page.keyboard.press('Enter');
    expect(await page.locator('#message').inputValue()).toBe('');
    await sendMessage('Hello');
    await readAnswer();
    dialog = await open();
    expect(await dialog.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
      'Favorites',
      'Recently used',
      'From this service',
    ]);
    expect((await page.locator(names).allTextContents()).slice(0, 2)).toEqual(['Reader', 'Model 77']);
    await dialog.getByRole('button', { name: 'Remove Reader from favorites' }).click();
    expect(await dialog.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual(['Recently used', 'From this service']);
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it.each(viewports)('groups the versions of a model and lets the user choose each of them: %s', async (look, options) => {
    const { page } = await fixture.browser.open(`${largeService.url}/#key=${callerKey}`, options);
    await page.locator('.picker').click();
    await page.getByRole('searchbox', { name: 'Search models and applications' }).fill('novel');
    expect(await page.locator(names).allTextContents()).toEqual(['Novel10']);
    const versions = page.getByRole('group', { name: 'Versions of Novel' });
    expect(await versions.getByRole('button').allTextContents()).toEqual(['10', '9']);
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('.picker', { hasText: 'Novel' }).click();
    await page.getByRole('searchbox', { name: 'Search models and applications' }).fill('novel');
    expect([look, await page.locator('.option-version[aria-current]').textContent()]).toEqual([look, '9']);
  });

  it.each(viewports)('has no accessibility violations or overflow: %s', async (_look, options) => {
    const { page } = await fixture.browser.open(`${largeService.url}/#key=${callerKey}`, options);
    await page.locator('.picker').click();
    await page.getByRole('radio', { name: 'Accept files' }).check({ force: true });
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
  });
});

describe('an answer from another model', () => {
  it('appears as another version next to the first, and the user can continue with one of them', async () => {
    const { page, sendMessage, readAnswer, issues } = await fixture.open('scripted');
    fixture.upstream.script(eventsReply(...plainReply('Of the one.')));
    await sendMessage('Who are you?');
    expect(await readAnswer()).toBe('Of the one.');
    await page.getByRole('button', { name: 'Try another model' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^D ?Demo|^Demo/ })
      .first()
      .click();
    await page.locator('.reply[aria-label="Demo"] .actions').waitFor();
    await page.getByRole('button', { name: 'Versions side by side' }).click();
    const sides = page.getByRole('list', { name: 'Versions side by side' }).getByRole('listitem');
    await sides.nth(1).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await sides.locator('.reply-deployment').allInnerTexts()).toEqual(['Scripted', 'Demo']);
    await sides.first().getByRole('button', { name: 'Continue with this version' }).click();
    await page.locator('.reply[aria-label="Scripted"]').waitFor();
    expect(await page.getByRole('group', { name: 'Version 1 of 2' }).count()).toBe(1);
    fixture.upstream.script(eventsReply(...plainReply('From the first model again.')));
    await sendMessage('And now?');
    expect(await readAnswer()).toBe('From the first model again.');
    const { body } = fixture.upstream.requests.at(-1) ?? {};
    expect(JSON.stringify(body)).toContain('Of the one.');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it.each(viewports)(
    'appears next to the answers of other recipients of the same message, and the user can continue with one of them: %s',
    async (look, options) => {
      const { page, sendMessage, issues } = await fixture.open('demo', options);
      const message = page.locator('#message');
      for (const name of ['Scripted', 'Raw', 'Demo']) {
        await message.pressSequentially(`@${name.slice(0, 3)}`);
        await page.getByRole('option', { name }).click();
      }
      await message.pressSequentially('@');
      expect(await page.getByRole('listbox').count()).toBe(0);
      await message.fill('');
      await message.press('Backspace');
      expect(await page.locator('.addressee').allInnerTexts()).toEqual(['This message goes to Scripted', 'Raw']);
      await message.pressSequentially('@dem');
      await page.keyboard.press('Enter');
      expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const answerLate = (nth: number) => async (exchange: UpstreamExchange) => {
        exchange.head();
        await exchange.events(delta({ role: 'assistant' }), text(`Begun ${nth}.`));
        await gates[nth]?.promise;
        await exchange.events(text(' Ended.'), finish());
        exchange.done();
      };
      fixture.upstream.script(answerLate(0), answerLate(1));
      await sendMessage('Count to 12');
      const sides = page.getByRole('list', { name: 'Versions side by side' }).getByRole('listitem');
      await sides.filter({ hasText: 'Begun 0.' }).waitFor();
      await sides.filter({ hasText: 'Begun 1.' }).waitFor();
      await sides.filter({ hasText: '1 2 3 4 5 6 7 8 9 10 11 12' }).waitFor();
      expect(await sides.locator('.reply-deployment').allInnerTexts()).toEqual(['Scripted', 'Raw', 'Demo']);
      const requestBodies = fixture.upstream.requests.slice(-2).map(({ body }) => JSON.stringify(body));
      expect(requestBodies.map((body) => body.includes('Count to 12'))).toEqual([true, true]);
      gates[0]?.resolve();
      await sides.filter({ hasText: 'Ended.' }).waitFor();
      // One more answer is in progress, so the stop button is available.
      await page.getByRole('button', { name: 'Stop' }).click();
      await sides.filter({ hasText: 'You stopped this answer.' }).waitFor();
      gates[1]?.resolve();
      const folder = process.env.PICTURES;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/beside-${look}.png` });
      expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
      const chosen = sides.filter({ hasText: 'Begun 0.' });
      const name = await chosen.locator('.reply-deployment').innerText();
      await chosen.getByRole('button', { name: 'Continue with this version' }).click();
      await page.locator(`.reply[aria-label="${name}"] .actions`).waitFor();
      await page.getByRole('group', { name: /Version [12] of 3/ }).waitFor();
      expect(await sides.count()).toBe(0);
      // On a phone, focusing the field would open the on-screen keyboard over the answer.
      if (look !== 'phone') expect(await page.evaluate('document.activeElement.id')).toBe('message');
      await page.locator('.picker', { hasText: name }).waitFor();
      fixture.upstream.script(eventsReply(...plainReply('Hello to you.')));
      await sendMessage('Hello');
      await page.locator('.reply', { hasText: 'Hello to you.' }).locator('.actions').waitFor();
      expect(issues).toEqual({ externalRequests: [], errors: [] });
    },
  );

  it('is requested for one message with an @ mention, and the chat keeps its model', async () => {
    const { page, readAnswer, sendMessage } = await fixture.open('demo');
    await page.locator('#message').pressSequentially('@scri');
    await page.getByRole('listbox', { name: 'Recipients of this message' }).getByRole('option', { name: 'Scripted' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('This message goes to Scripted').waitFor();
    fixture.upstream.script(eventsReply(...plainReply('Asked once.')));
    await sendMessage('Hello');
    expect(await readAnswer()).toBe('Asked once.');
    expect(await page.locator('.reply').last().getAttribute('aria-label')).toBe('Scripted');
    expect(await page.getByText('This message goes to Scripted').count()).toBe(0);
    await sendMessage('Hello again');
    await readAnswer();
    expect(await page.locator('.reply').last().getAttribute('aria-label')).toBe('Demo');
    await page.locator('#message').pressSequentially('@raw');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Backspace');
    await page.getByText('This message goes to').waitFor({ state: 'detached' });
    await page.locator('#message').pressSequentially('@nobody');
    expect(await page.getByRole('listbox').count()).toBe(0);
  });
});

it('stores a rating and its comment with the response ID and shows an error if saving fails', async () => {
  const { page, sendMessage, readAnswer, reload, issues } = await fixture.open('demo');
  await sendMessage('Hello');
  await readAnswer();
  const sent: unknown[] = [];
  page.on('request', (request) => request.url().endsWith('/rate') && sent.push(request.postDataJSON()));
  await page.getByRole('button', { name: 'Bad answer' }).click();
  await page.getByLabel('Rating saved. Tell us why (optional):').fill('Too short.');
  await page.locator('.rating-comment').getByRole('button', { name: 'Send' }).click();
  await page.locator('.rating-comment').waitFor({ state: 'detached' });
  const responseId = expect.stringMatching(/./);
  expect(sent).toEqual([
    { rate: false, responseId },
    { rate: false, comment: 'Too short.', responseId },
  ]);
  expect(await page.getByRole('button', { name: 'Bad answer' }).getAttribute('aria-pressed')).toBe('true');
  expect(issues).toEqual({ externalRequests: [], errors: [] });
  await reload();
  const bad = page.getByRole('button', { name: 'Bad answer' });
  expect(await bad.getAttribute('aria-pressed')).toBe('true');
  await page.route('**/rate', (route) => route.abort());
  await page.getByRole('button', { name: 'Good answer' }).click();
  await page.locator('.reply').getByRole('alert').waitFor();
  expect(await bad.getAttribute('aria-pressed')).toBe('true');
  await page.unroute('**/rate');
  await page.getByRole('button', { name: 'Good answer' }).click();
  await page.getByLabel('Rating saved. Tell us why (optional):').waitFor();
  expect(sent.at(-1)).toEqual({ rate: true, responseId });
});
