import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { startBrowser, startPageProcess, type TestBrowser } from './support.ts';
import { findViolations, measureOverflow } from './violations.ts';

const pattern = /"firstStartToken":"([^"]+)"/;
let browser: TestBrowser;
let service: TestProcess;
let receiver: ScriptedUpstream;
/** Key that the first test creates. */
let adminKey = '';

beforeAll(async () => {
  [browser, receiver] = await Promise.all([startBrowser(), startScriptedUpstream(jsonReply({}))]);
  const alert = { of: 'project:team', window: 'cost.month', at: [1], url: receiver.url, secret: 'a secret of this test' };
  service = await startPageProcess({ models: { demo: { upstreams: [{ protocol: 'demo' }] } }, alerts: [alert] });
});

afterAll(async () => {
  await Promise.all([service[Symbol.asyncDispose](), receiver.close()]);
});

it('exchanges the one-time token for a key, shows the key once, and opens the administration', async () => {
  await service.untilOutput(pattern);
  const token = pattern.exec(service.output.stdout)?.[1] ?? '';
  const { page, issues } = await browser.open(service.url, {
    viewport: { width: 390, height: 800 },
    permissions: ['clipboard-write'],
  });
  const field = page.getByLabel('One-time token');
  const setup = page.getByText('Create the first administrator');
  await setup.waitFor();
  expect(await page.locator('.button.primary').allTextContents()).toEqual(['Sign in']);
  expect(await field.isVisible()).toBe(false);
  await setup.click();
  await field.fill('wrong');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByRole('alert').getByText('The token is wrong or was used.').waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);

  await field.fill(` ${token} `);
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('Save this key now. It is shown only once.').waitFor();
  adminKey = await page.getByRole('textbox', { name: 'Key of the administrator' }).inputValue();
  await page.getByRole('button', { name: 'Copy the key' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  await page.getByRole('button', { name: 'Continue to the administration' }).click();
  await page.getByRole('heading', { name: 'Administration', exact: true }).waitFor();
  await page.locator('.start-steps a').first().waitFor();
  const state = await service.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': adminKey } });
  expect(state.status).toBe(200);
  expect(issues.externalRequests).toEqual([]);

  const other = await browser.open(service.url);
  await other.page.getByLabel('Key', { exact: true }).waitFor();
  expect(await other.page.getByLabel('One-time token').count()).toBe(0);
});

it('leads from the first model to a spent budget, a replaced key, an undone change, and a revoked key', async () => {
  const { page, issues } = await browser.open(`${service.url}/#key=${adminKey}`);
  await page.locator('#message').waitFor();
  const goTo = (path: string) => page.evaluate(`location.hash = '#/administration/${path}'`);
  const save = () => page.getByRole('button', { name: 'Save' }).click();
  const callWith = async (key: string): Promise<number> => {
    const body = { model: 'first', messages: hello, max_tokens: 1 };
    return (await service.sendRequest({ path: '/v1/chat/completions', headers: withKey(key), body })).status;
  };
  const create = async (kind: string, id: string, value: object): Promise<void> => {
    await goTo(`${kind}?new`);
    await page.getByRole('textbox', { name: 'ID · required' }).fill(id);
    await page.getByRole('radio', { name: 'JSON' }).check({ force: true });
    await page.getByLabel('JSON').last().fill(JSON.stringify(value));
    await save();
    await page.getByRole('heading', { name: id, exact: true }).waitFor();
  };
  await create('models', 'first', { upstreams: [{ protocol: 'demo' }], pricing: { request: 1 } });
  await create('projects', 'team', { costLimit: { month: 1 } });
  await goTo('keys?new');
  await page.getByLabel('Team').fill('team');
  await save();
  const dialog = page.getByRole('dialog', { name: 'The new key' });
  const takeKey = async (): Promise<string> => {
    const key = await dialog.getByRole('textbox').inputValue();
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    return key;
  };
  const key = await takeKey();
  expect([await callWith(key), await callWith(key)]).toEqual([200, 429]);
  await receiver.request(0);

  await page.getByRole('button', { name: 'Replace the key' }).click();
  const rotation = page.getByRole('dialog', { name: 'Replace this key?' });
  await rotation.getByLabel('The old key still works for').selectOption({ label: 'no time' });
  await rotation.getByRole('button', { name: 'Replace the key' }).click();
  const nextKey = await takeKey();
  expect([await callWith(key), await callWith(nextKey)]).toEqual([401, 429]);
  const keyAddress = await page.evaluate<string>('location.hash');

  await goTo('projects/team');
  await page.getByLabel('Per month', { exact: true }).fill('5');
  await save();
  await page.getByText('Everything is saved.').waitFor();
  expect(await callWith(nextKey)).toBe(200);
  await goTo('changes');
  await page.locator('.change-list > li').first().getByRole('button', { name: /^Undo/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await page.locator('.change-list > li', { hasText: 'Undone' }).first().waitFor();
  expect(await callWith(nextKey)).toBe(429);

  await page.evaluate(`location.hash = ${JSON.stringify(keyAddress)}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
  expect(await callWith(nextKey)).toBe(401);
  await goTo('alerts');
  await page.getByText(/^Last sent/).waitFor();
  expect(receiver.requests).toHaveLength(1);
  expect(issues.externalRequests).toEqual([]);
});
