import fastifySwagger from '@fastify/swagger';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { startBrowser, startPageProcess, type TestPage } from './support.ts';
import { findViolations, measureOverflow } from './violations.ts';

async function sendAndGetRequest({ page, sendMessage, readAnswer }: TestPage, text: string): Promise<Record<string, unknown>> {
  const [request] = await Promise.all([page.waitForRequest(/v1\/chat-runs\//), sendMessage(text)]);
  await readAnswer();
  const { model: _model, ...body } = request.postDataJSON();
  return body;
}

it('sends the settings of a chat with each of its messages and saves them as a preset', {
  timeout: 90_000,
}, async () => {
  await using service = await startPageProcess({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
  const browser = await startBrowser();
  const opened = await browser.open(`${service.url}/#key=caller-key`);
  const { page, issues, reload } = opened;
  const open = () => page.getByRole('button', { name: 'Chat settings' }).click();
  const dialog = page.getByRole('dialog');
  await page.locator('.starter').first().waitFor();
  expect(await sendAndGetRequest(opened, 'Count to 1')).toEqual({
    stream: true,
    stream_options: { include_cost: true },
    messages: [{ role: 'user', content: 'Count to 1' }],
  });

  await page.getByRole('link', { name: 'New chat' }).click();
  await page.locator('.starter').first().waitFor();
  await open();
  await dialog.getByLabel('Instructions').fill('Be brief.');
  await dialog.getByLabel('Temperature').fill('0.2');
  await dialog.getByLabel('Maximum answer length').fill('300');
  await dialog.getByRole('textbox', { name: 'Save as preset' }).fill('Short & dry');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('button', { name: 'Short & dry', exact: true }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  const settings = { temperature: 0.2, max_tokens: 300 };
  const instructions = { role: 'system', content: 'Be brief.' };
  expect(await sendAndGetRequest(opened, 'Count to 2')).toMatchObject({
    ...settings,
    messages: [instructions, { role: 'user' }],
  });
  await reload();
  await page.getByRole('button', { name: '(customized)' }).waitFor();
  expect(await sendAndGetRequest(opened, 'Count to 3')).toMatchObject({ ...settings, messages: [instructions, {}, {}, {}] });

  await page.getByRole('link', { name: 'New chat' }).click();
  await page.locator('.starter').first().waitFor();
  await open();
  expect(await dialog.getByLabel('Instructions').inputValue()).toBe('');
  await dialog.getByRole('button', { name: 'Short & dry', exact: true }).click();
  await expect.poll(() => dialog.getByLabel('Temperature').inputValue()).toBe('0.2');
  expect(await dialog.getByLabel('Instructions').inputValue()).toBe('Be brief.');
  await dialog.getByRole('button', { name: 'Delete “Short & dry”' }).click();
  await dialog.getByRole('button', { name: 'Short & dry', exact: true }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  expect(await sendAndGetRequest(opened, 'Count to 1')).not.toHaveProperty('temperature');
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

/** Starts a web service that publishes its OpenAPI document. */
async function startWeather() {
  const app = fastify();
  await app.register(fastifySwagger, { openapi: { info: { title: 'Weather', version: '1' } } });
  const params = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
  const schema = { operationId: 'get_weather', description: 'The weather of a city.', params };
  app.get('/weather/:city', { schema }, async () => ({ sky: 'hail and thunder' }));
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), [Symbol.asyncDispose]: () => app.close() };
}

it('lets the user choose tools for a chat with a model and shows an error if a tool no longer exists', {
  timeout: 90_000,
}, async () => {
  await using weather = await startWeather();
  const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
  const addons = { weather: { url: `${weather.url}/openapi.json`, displayName: 'Weather report', description: 'Of any city.' } };
  const applications = { app: { displayName: 'Elsewhere', endpoint: `${weather.url}/app` } };
  const security = { allowPrivateNetworks: ['127.0.0.1'] };
  await using service = await startPageProcess({ models, addons, applications, security });
  const browser = await startBrowser();
  const opened = await browser.open(`${service.url}/#key=caller-key`);
  const { page, issues, readAnswer, reload } = opened;
  const dialog = page.getByRole('dialog');
  const open = () => page.getByRole('button', { name: 'Chat settings' }).click();
  await page.locator('.starter').first().waitFor();
  await page.evaluate("location.hash = '#/?with=demo'");
  await page.locator('.picker', { hasText: 'demo' }).waitFor();
  await open();
  await dialog.getByRole('group', { name: 'Tools' }).getByRole('checkbox', { name: 'Weather report' }).check();
  for (const size of [
    { width: 390, height: 800 },
    { width: 1280, height: 900 },
  ]) {
    await page.setViewportSize(size);
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  }
  if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/tools.png` });
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  expect(await sendAndGetRequest(opened, 'What is the weather in Paris?')).toMatchObject({ addons: [{ name: 'weather' }] });
  expect(await readAnswer()).toContain('hail and thunder');
  await reload();
  await page.getByRole('button', { name: '(customized)' }).waitFor();
  const toolMenu = page.locator('.composer summary.setting');
  const tool = page.locator('.setting-row').getByRole('checkbox');
  await toolMenu.click();
  expect([await toolMenu.innerText(), await tool.first().isChecked()]).toEqual(['Tools (1)', true]);
  await tool.first().uncheck();
  expect([await findViolations(page), await measureOverflow(page), await toolMenu.innerText()]).toEqual([[], 0, 'Tools']);
  await tool.first().check();
  await page.keyboard.press('Escape');
  expect(await tool.first().isVisible()).toBe(false);

  await service.configure({ models, applications, security });
  const listed = () => service.sendRequest({ method: 'GET', path: '/openai/addons', headers: { 'api-key': 'caller-key' } });
  await expect.poll(async () => (await listed()).json).toMatchObject({ data: [] });
  await opened.sendMessage('And in Rome?');
  await page.getByText('A tool selected for this chat is no longer available.').waitFor();
  await page.getByText('Open the chat settings, apply them again').waitFor();

  // An application brings its own tools, so the group is missing.
  await page.evaluate("location.hash = '#/?with=app'");
  await page.locator('.picker', { hasText: 'Elsewhere' }).waitFor();
  expect(await page.locator('.setting-row').count()).toBe(0);
  await open();
  await dialog.getByLabel('Instructions').waitFor();
  expect(await dialog.getByRole('group', { name: 'Tools' }).count()).toBe(0);
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});

it('offers the reasoning effort only for models that support it, and sends it only to them', {
  timeout: 90_000,
}, async () => {
  const upstreams = [{ protocol: 'demo' }];
  const models = {
    thinker: { displayName: 'Thinker', features: { reasoningSupported: true }, upstreams },
    told: { displayName: 'Told', defaults: { reasoning_effort: 'low' }, upstreams },
    plain: { displayName: 'Plain', upstreams },
  };
  await using service = await startPageProcess({ models });
  const browser = await startBrowser();
  const opened = await browser.open(`${service.url}/#key=caller-key`);
  const { page, issues, reload } = opened;
  const dialog = page.getByRole('dialog');
  const effort = dialog.getByLabel('Thinking before the answer');
  const open = () => page.getByRole('button', { name: 'Chat settings' }).click();
  const openChat = async (id: string): Promise<void> => {
    await page.evaluate(`location.hash = '#/?with=${id}'`);
    await page.locator('.picker', { hasText: new RegExp(id, 'i') }).waitFor();
  };
  await page.locator('.starter').first().waitFor();
  await openChat('thinker');
  await open();
  expect(await effort.inputValue()).toBe('');
  await effort.selectOption('thorough');
  expect(await findViolations(page)).toEqual([]);
  if (process.env.PICTURES !== undefined) await page.screenshot({ path: `${process.env.PICTURES}/effort.png`, fullPage: true });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  await page.setViewportSize({ width: 1280, height: 720 });
  await dialog.getByRole('textbox', { name: 'Save as preset' }).fill('Deep');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('button', { name: 'Deep', exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  expect(await sendAndGetRequest(opened, 'Count to 1')).toMatchObject({ reasoning_effort: 'high' });
  await reload();
  await page.getByRole('button', { name: '(customized)' }).waitFor();
  expect(await sendAndGetRequest(opened, 'Count to 2')).toMatchObject({ reasoning_effort: 'high' });
  const thinking = page.locator('.composer').getByLabel('Thinking');
  expect(await thinking.inputValue()).toBe('high');
  await thinking.selectOption('short');
  expect(await findViolations(page)).toEqual([]);
  expect(await sendAndGetRequest(opened, 'Count to 2')).toMatchObject({ reasoning_effort: 'low' });
  // Continues the chat with a model that would reject the parameter.
  await page.locator('.picker').click();
  await page.getByRole('dialog').getByText('Plain', { exact: true }).click();
  expect(await sendAndGetRequest(opened, 'Count to 3')).not.toHaveProperty('reasoning_effort');
  await open();
  await dialog.getByLabel('Instructions').waitFor();
  expect(await effort.count()).toBe(0);
  await page.keyboard.press('Escape');
  expect(await page.locator('.setting-row').count()).toBe(0);

  await openChat('told');
  await open();
  await dialog.getByRole('button', { name: 'Deep', exact: true }).click();
  await expect.poll(() => effort.inputValue()).toBe('high');
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
