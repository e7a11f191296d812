import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, type TestService } from '#test/start-service.ts';
import { ownBucket } from '../applications/support.ts';
import { buildOperations, calls, quickApp, says } from '../quick-apps/support.ts';
import { openEditor, store } from './builder-support.ts';
import { startBrowser, startPageService, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow, viewports } from './violations.ts';

vi.setConfig({ testTimeout: 60_000 });

let browser: TestBrowser;
let service: TestService;
let model: ScriptedUpstream;
let api: ScriptedUpstream;

const hostile = '<img src=x onerror=alert(1)>';

beforeAll(async () => {
  browser = await startBrowser();
  model = await startScriptedUpstream();
  api = await startScriptedUpstream(({ response }) => void response.end('{"items":["Lamp"]}'));
  const upstreams = [{ endpoint: model.endpoint }];
  service = await startPageService(
    {
      models: { model: { displayName: 'Model', upstreams, pricing: { prompt: 0.001, completion: 0.01 } } },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    },
    { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } },
  );
  await store(
    service,
    'shop',
    quickApp({ instructions: `Say ${hostile}.`, ...buildOperations(api, 'find') }, { displayName: 'Shop' }),
  );
  await store(service, 'kept', quickApp({}, { displayName: 'Kept' }));
});

beforeEach(() =>
  model.script(calls('Let me look.', ['find', { text: 'lamp' }]), says('There is a lamp.'), says('You are welcome.')),
);

afterAll(async () => {
  await service.close();
  await model.close();
  await api.close();
});

async function openTest(name: string, options?: Parameters<typeof openEditor>[1]['options']) {
  const opened = await openEditor(name, { browser, service, options });
  await opened.page.getByRole('button', { name: 'Test chat', exact: true }).click();
  await opened.page.locator('.test-chat').waitFor();
  return { ...opened, panel: opened.page.locator('.test-chat'), trace: opened.page.locator('.trace') };
}

it('shows the bar of the form in one row next to the test chat', async () => {
  const { page } = await openTest('kept');
  await page.setViewportSize({ width: 1280, height: 720 });
  const boxes = page.locator('.builder-bar > *');
  const tops = await boxes.evaluateAll((all) =>
    all.map((each) => each.getBoundingClientRect()).map(({ top, height }) => top + height / 2),
  );
  expect(tops).toHaveLength(3);
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(5);
});

it('returns the focus to its button when the test chat closes', async () => {
  const { page, panel } = await openTest('kept');
  await panel.getByRole('button', { name: 'Close the test chat' }).click();
  await panel.waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Test chat');
});

it('shows in the test chat the model requests, the tool runs, and the cost', async () => {
  const { page, sendMessage, readAnswer, panel, trace, issues } = await openTest('shop');
  await sendMessage('What do you have?');
  expect(await readAnswer()).toContain('There is a lamp.');
  await trace.getByText('2 model turns · 1 tool run').waitFor();
  expect(await trace.locator(':scope > summary').textContent()).toContain('20 + 4 tokens · about $0.06');
  expect(await trace.getByRole('list', { name: 'Steps in detail' }).isVisible()).toBe(false);
  await trace.locator(':scope > summary').click();
  expect(await trace.locator('.trace-name').allTextContents()).toEqual(['Turn 1: model', 'Tool: find', 'Turn 2: model']);
  expect(await trace.locator('.trace-bar > .model').count()).toBe(2);
  expect(await trace.locator('.trace-nested .trace-bar > .tool').count()).toBe(1);
  const boxes = await Promise.all((await trace.locator('.trace-bar').all()).map((bar) => bar.boundingBox()));
  expect(new Set(boxes.map((box) => `${box?.x} ${box?.width}`)).size).toBe(1);
  const starts = await trace
    .locator('.trace-bar > span')
    .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left));
  expect(starts).toEqual([...starts].sort((one, other) => one - other));
  const [first, tool, second] = await trace.locator('.trace-step').all();
  await first?.locator('summary').first().click();
  expect(await first?.locator('.trace-message').allTextContents()).toEqual([`systemSay ${hostile}.`, 'userWhat do you have?']);
  await first?.getByText('Tools offered: find').waitFor();
  await first?.locator('.trace-part', { hasText: 'Answer of the model' }).getByText('"tool_calls"').waitFor();
  await tool?.locator('summary').first().click();
  expect(await tool?.locator('pre').allTextContents()).toEqual(['{\n  "text": "lamp"\n}', '{\n  "items": [\n    "Lamp"\n  ]\n}']);
  await second?.locator('summary').first().click();
  await second?.getByText('2 earlier messages, then:').waitFor();
  expect(await second?.locator('.trace-message .tag').allTextContents()).toEqual(['assistant', 'tool']);
  await second?.getByText('Tools offered: unchanged').waitFor();

  await sendMessage('Thank you.');
  await expect.poll(() => panel.locator('.reply .actions').count()).toBe(2);
  await trace.getByText('1 model turn').waitFor();
  await trace.getByLabel('Steps of answer').selectOption({ index: 0 });
  await trace.getByText('2 model turns').waitFor();
  await panel.getByRole('button', { name: 'Start over' }).click();
  await panel.getByText('The chat is not saved').waitFor();
  expect(await page.locator('.conversation-item').count()).toBe(0);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('tests unsaved changes in the test chat, which other users do not see', async () => {
  model.script(says('Kind.'), says('Kinder.'));
  const { page, sendMessage, readAnswer, trace } = await openTest('kept');
  await page.getByLabel(/^Instructions/).fill('Be kinder.');
  await sendMessage('Hello');
  expect(await readAnswer()).toBe('Kind.');
  await trace.getByText('1 model turn').waitFor();
  expect(model.requests.at(-1)?.body.messages).toMatchObject([{ content: 'Be kinder.' }, { content: 'Hello' }]);
  await page.getByText('Not saved. Closing the tab loses the changes.').waitFor();
  const callSaved = { messages: [{ role: 'user', content: 'Hello' }] };
  await service.chat(`applications/${ownBucket}/kept`, callSaved);
  expect(model.requests.at(-1)?.body.messages).toMatchObject([{ content: 'Be kind.' }, { content: 'Hello' }]);
});

it('tests an application that was never saved', async () => {
  model.script(says('Here I am.'));
  const { page, sendMessage, readAnswer } = await browser.open(`${service.url}/#key=${callerKey}`);
  await page.locator('#message').waitFor();
  await page.evaluate(`location.hash = '#/build'`);
  await page.getByRole('button', { name: 'New application' }).click();
  await page.getByLabel(/^Instructions/).fill('Be new.');
  await page.getByRole('button', { name: 'Test chat', exact: true }).click();
  await page.locator('.test-chat').waitFor();
  await sendMessage('Who are you?');
  expect(await readAnswer()).toBe('Here I am.');
  expect(model.requests.at(-1)?.body.messages).toMatchObject([{ content: 'Be new.' }, { content: 'Who are you?' }]);
});

it('keeps the test chat and the focus when a new application is saved', async () => {
  model.script(says('First answer.'), says('Second answer.'));
  const { page, sendMessage, readAnswer } = await browser.open(`${service.url}/#key=${callerKey}`);
  const panel = page.locator('.test-chat');
  await page.locator('#message').waitFor();
  await page.evaluate(`location.hash = '#/build'`);
  await page.getByRole('button', { name: 'New application' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Newcomer');
  await page.getByRole('button', { name: 'Test chat', exact: true }).click();
  await sendMessage('First question');
  expect(await readAnswer()).toBe('First answer.');
  await panel.locator('#message').fill('Not sent yet');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await save.click();
  await page.getByText('Everything is saved').waitFor();
  await page.waitForURL(/#\/build\/applications\/.+/);
  expect(await panel.locator('.question-text').textContent()).toBe('First question');
  expect(await panel.locator('#message').inputValue()).toBe('Not sent yet');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Save');
  await panel.getByRole('button', { name: 'Save as a test case' }).waitFor();
  await sendMessage('Second question');
  await panel.locator('.reply').getByText('Second answer.').waitFor();
  expect(await panel.locator('.question').count()).toBe(2);
});

it('shows the steps of a failed run and lets the user read them with the keyboard', async () => {
  model.script(calls(['find', {}]), ({ response }) => void response.writeHead(400).end('{"error":{"message":"Too long."}}'));
  const { page, sendMessage, panel, trace } = await openTest('shop');
  await sendMessage('Go on.');
  await panel.locator('.answer-error').waitFor();
  await trace.locator(':scope > summary').getByText('1 failed').click();
  await trace.locator('.trace-step').nth(2).waitFor();
  expect(await trace.locator('.trace-bar > .failed').count()).toBe(1);
  const last = trace.locator('.trace-step > summary').nth(2);
  expect(await last.textContent()).toContain('failed');
  await last.focus();
  await page.keyboard.press('Enter');
  await trace.locator('.trace-step').nth(2).locator('.error-text').getByText('Too long.').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await trace.getByRole('button', { name: 'Copied' }).waitFor();
});

describe('the test chat', () => {
  it.each(viewports)('has no accessibility violations or overflow: %s', async (_look, options) => {
    const { page, sendMessage, readAnswer, trace } = await openTest('shop', options);
    expect(await findViolations(page)).toEqual([]);
    await sendMessage(`What do you have? ${'long'.repeat(60)}`);
    await readAnswer();
    await trace.locator(':scope > summary').click();
    for (const step of await trace.locator('.trace-step > summary').all()) await step.click();
    expect(await findViolations(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
    await page.getByRole('button', { name: 'Close the test chat' }).click();
    await page.getByLabel(/^Instructions/).waitFor();
  });

  it('shows its trace in German on a German page', async () => {
    const { page } = await openEditor('shop', { browser, service, options: { locale: 'de-DE' } });
    await page.getByRole('button', { name: 'Testgespräch' }).click();
    await page.locator('#message').fill('Was gibt es?');
    await page.keyboard.press('Enter');
    await page.getByText('2 Modellschritte · 1 Werkzeugaufruf').waitFor();
  });
});
