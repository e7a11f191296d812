import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { errorReply, eventsReply } from '#test/scripted-upstream.ts';
import { callerKey, startService } from '#test/start-service.ts';
import { storageScript } from './long-conversation.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { measureOverflow } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
}, 120_000);

afterAll(() => fixture[Symbol.asyncDispose]());

const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };

/** Copies the ID in the details of a failed answer. Returns the clipboard. */
async function copyId(page: Page): Promise<string> {
  const details = page.locator('.answer-error details');
  await details.getByText('Give this ID to your administrator').waitFor();
  await details.getByRole('button', { name: 'Copy the ID' }).click();
  await details.getByRole('button', { name: 'Copied' }).waitFor();
  return (await page.evaluate('navigator.clipboard.readText()')) as string;
}

describe('a view of the page that cannot be loaded', () => {
  it('shows an error, keeps the rest of the page, and appears after a reload', async () => {
    const { page } = await fixture.open('demo');
    await page.route(/usage-page/, (route) => route.abort());
    await page.evaluate("location.hash = '#/usage'");
    await page.getByRole('heading', { name: 'This part of the page cannot be shown' }).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(1);
    await page.unroute(/usage-page/);
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  });

  it('leaves the message field at the bottom if the turns of a chat cannot be loaded, and shows them once they can', async () => {
    const { page, sendMessage } = await fixture.open('demo');
    await page.route(/\/thread-/, (route) => route.abort());
    await sendMessage('Count to 2');
    await page.getByRole('alert').getByText('This part of the page cannot be shown').waitFor();
    const field = await page.locator('#message').boundingBox();
    const { height = 0 } = page.viewportSize() ?? {};
    expect(height - ((field?.y ?? 0) + (field?.height ?? 0))).toBeLessThan(150);
    await page.unroute(/\/thread-/);
    await page.locator('.markdown').getByText('1 2').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('shows the label of a form that cannot be loaded, and the form once it can', async () => {
    const { page, sendMessage } = await fixture.open('demo');
    await page.route(/\/schema-form-/, (route) => route.abort());
    await sendMessage('Show me controls');
    await page.locator('.controls .note', { hasText: 'Pick a color' }).waitFor();
    await page.unroute(/\/schema-form-/);
    await page.locator('.controls').getByRole('group', { name: 'Pick a color' }).getByRole('button').first().waitFor();
  });

  it('shows code without colors if highlighting cannot be loaded', async () => {
    const { page, sendMessage, readAnswer, issues } = await fixture.open('scripted');
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/highlight-'));
    await page.route(/\/highlight-/, (route) => route.abort());
    fixture.upstream.script(eventsReply(text('```js\nlet x;\n```\n'), finish()));
    await sendMessage('Show code');
    expect(await readAnswer()).toContain('let x;');
    await failed;
    expect(issues.errors).toEqual([]);
  });
});

it('explains that an administrator can turn on a disabled view', async () => {
  const { page } = await fixture.open('demo');
  await page.evaluate("location.hash = '#/usage'");
  const alert = page.getByRole('alert').first();
  await alert.getByText('This feature is turned off. Your administrator can turn it on.').waitFor();
  expect(await page.locator('main').innerText()).not.toContain('Choose a model');
});

it('shows in the settings how the user signed in', async () => {
  const { page } = await fixture.open('demo');
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByText('Signed in with a key of the team test').waitFor();
});

describe('an address', () => {
  it('of a missing chat shows the reason', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('#message').waitFor();
    await page.evaluate("location.hash = '#/chat/gone'");
    await page.getByText('This chat was deleted or cannot be reached').waitFor();
  });

  it.each(['nowhere', 'operations'])('of a missing view shows an error: %s', async (view) => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('#message').waitFor();
    await page.evaluate(`location.hash = '#/${view}'`);
    await page.getByText('This page does not exist, or you don’t have access to it.').waitFor();
  });

  it('of a deployment without access names the deployment', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('#message').waitFor();
    await page.evaluate("location.hash = '#/?with=secret'");
    await page.getByText('The link asks for secret, but you don’t have access to it.').waitFor();
  });
});

describe('an answer', () => {
  it('shows the reasoning of the model in a collapsed section', async () => {
    fixture.upstream.script(
      eventsReply(delta({ role: 'assistant', reasoning_content: 'Let me see.' } as never), text('Done.'), finish()),
    );
    const { page, sendMessage, readAnswer } = await fixture.open('scripted');
    await sendMessage('Hello');
    expect(await readAnswer()).toBe('Done.');
    const thoughts = page.getByText('Let me see.');
    expect(await thoughts.isVisible()).toBe(false);
    await page.getByText('Thoughts').click();
    await thoughts.waitFor();
  });

  it('that failed shows a plain message with collapsed details', async () => {
    fixture.upstream.script(errorReply(503));
    const { page, sendMessage } = await fixture.open('raw', clipboard);
    await sendMessage('Hello');
    await page.locator('.answer-error').getByText('cannot be reached at the moment').waitFor();
    await page.getByText('Details for support').click();
    await page.locator('.answer-error details').getByText('upstream_unavailable').waitFor();
    expect(await copyId(page)).toMatch(/^[\w-]{10,}$/);
    // The available actions have text labels.
    const actions = page.locator('.reply .actions').getByRole('button');
    await actions.first().waitFor();
    expect((await actions.allInnerTexts()).filter((name) => name !== '')).toEqual(['Try again', 'Try another model']);
  });

  it('that failed aligns its actions on a narrow screen', async () => {
    fixture.upstream.script(errorReply(500, {}));
    const { page, sendMessage } = await fixture.open('raw', { viewport: { width: 360, height: 740 }, locale: 'de' });
    await sendMessage('Hallo');
    const boxes = ['Noch einmal versuchen', 'Anderes Modell versuchen'].map((name) =>
      page.locator('.reply .actions > .button, .reply .actions > * > .button').filter({ hasText: name }).boundingBox(),
    );
    const [first, second] = await Promise.all(boxes);
    expect([second?.x, (second?.y ?? 0) > (first?.y ?? 0)]).toEqual([first?.x, true]);
  });

  it('that failed after its start has the ID of the request that started it', async () => {
    const error = { error: { message: 'Out of memory', type: 'server_error', code: 'odd_upstream_code' } };
    fixture.upstream.script(eventsReply(delta({ role: 'assistant' }), text('The first'), error as never));
    const { page, sendMessage } = await fixture.open('raw', clipboard);
    const [response] = await Promise.all([
      page.waitForResponse(/v1\/chat-runs\/[\w-]+$|chat\/completions$/),
      sendMessage('Hello'),
    ]);
    await page.getByText('Details for support').click();
    expect(await copyId(page)).toBe(response.headers()['x-request-id']);
    expect(await measureOverflow(page)).toBe(0);
  });

  it.each([
    [400, { code: 'odd_upstream_code' }, 'The model did not accept this message.', 'Edit the message and ask again.'],
    [422, { code: 'odd_upstream_code' }, 'The model did not accept this message.', 'Try again. If it keeps failing'],
    [500, { code: 'odd_upstream_code' }, 'The model could not answer.', 'Try again. If it keeps failing'],
    [403, { code: 'policy_42' }, 'You don’t have access.', 'Choose a model or application'],
    [400, { code: 'x', display_message: 'Please write in French.' }, 'Please write in French.', 'Edit the message'],
  ])('with an unknown error code shows a plain message: %i, %j', async (status, fields, expectedTitle, hint) => {
    fixture.upstream.script(errorReply(status, {}, { message: 'E_FOO: bar must not baz', ...fields }));
    const { page, sendMessage } = await fixture.open('raw', { locale: 'en' });
    await sendMessage('Hello');
    const answerError = page.locator('.answer-error');
    await answerError.locator('.answer-error-title').getByText(expectedTitle).waitFor();
    await answerError.getByText(hint).waitFor();
    // Only a rejection without a message for users shows the reason of the service.
    const showsReason = /accept this message/.test(expectedTitle);
    expect(await answerError.locator('.answer-error-reason').count()).toBe(showsReason ? 1 : 0);
    await answerError.getByText('Details for support').click();
    await answerError.locator('details').getByText('E_FOO: bar must not baz').waitFor();
  });

  it.each([
    [
      'en',
      'The usage limit is reached',
      /^You can continue in \d+ (?:minutes?|hours?) \(.*\d:\d\d.[AP]M\)\. Until then/,
      'Try again. If',
    ],
    [
      'de',
      'Das Limit ist für jetzt erreicht',
      /^Du kannst in \d+ (?:Minuten?|Stunden?) \(.*\d:\d\d\) weitermachen\. Bis dahin geht vielleicht/,
      'Versuche es',
    ],
  ])(
    'that a limit rejects shows the local time when the user can continue, until that time has passed: %s',
    async (locale, expectedTitle, when, laterHint) => {
      const demo = { upstreams: [{ protocol: 'demo' }] };
      await using service = await startService({ models: { demo }, roles: { default: { limits: { demo: { requestDay: 1 } } } } });
      const { page, sendMessage, reload } = await fixture.browser.open(`${service.url}/#key=${callerKey}`, { locale });
      await page.locator('.starter').first().waitFor();
      await sendMessage('Count to 1');
      await page.locator('.reply .actions').waitFor();
      await sendMessage('Count to 2');
      const hint = page.locator('.answer-error-title', { hasText: expectedTitle }).locator('+ p');
      expect(await hint.innerText()).toMatch(when);
      await expect.poll(() => page.evaluate(storageScript)).toMatch(/Count to 2.*limit_exceeded|limit_exceeded.*Count to 2/);
      await page.clock.setFixedTime(Date.now() + 2 * 86_400_000);
      await reload();
      expect(await hint.innerText()).toContain(laterHint);
    },
  );
});

describe('two tabs', () => {
  it('show the messages of each other', async () => {
    const { page, sendMessage, readAnswer } = await fixture.open('demo');
    await sendMessage('From the first tab');
    await readAnswer();
    const second = await page.context().newPage();
    const { origin, hash } = new URL(page.url());
    await second.goto(`${origin}/#key=${callerKey}`);
    await second.locator('#message').waitFor();
    await second.evaluate(`location.hash = '${hash}'`);
    await second.locator('.question', { hasText: 'From the first tab' }).waitFor();
    await second.locator('#message').fill('From the second tab');
    await second.keyboard.press('Enter');
    await page.locator('.question', { hasText: 'From the second tab' }).waitFor();
    await second.close();
  });
});

it('does not send Enter from the model picker to the message field', async () => {
  const { page } = await fixture.open('demo');
  await page.locator('.picker').click();
  await page.locator('.picker-dialog input').fill('scripted');
  await page.keyboard.press('Enter');
  await page.locator('.picker', { hasText: 'Scripted' }).waitFor();
  expect(await page.locator('#message').inputValue()).toBe('');
});
