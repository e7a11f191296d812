/** Takes the screenshots of docs/images from the built page. Arguments select pictures by name. */

import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { eventsReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { ownBucket } from '../test/applications/support.ts';
import { calls, says } from '../test/quick-apps/support.ts';
import { store } from '../test/web/builder-support.ts';
import { roots, type SampleConversation, trip } from './sample-conversation.ts';

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url));
const maxBytes = 200_000;
/** Resolves after a tenth of a second, so that it can be polled. */
const isTypefaceLoaded = `new Promise((resolve) => setTimeout(() => resolve(
  [...document.fonts].some(({ family, status }) => family.includes('Public Sans') && status === 'loaded')), 100))`;
const wide: BrowserContextOptions = { viewport: { width: 1160, height: 800 }, deviceScaleFactor: 1.25, locale: 'en-GB' };
const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  deviceScaleFactor: 1.5,
  isMobile: true,
  hasTouch: true,
  locale: 'en-GB',
};

interface View {
  readonly name: string;
  readonly contextOptions: BrowserContextOptions;
  /** Navigates the page to the content of the picture. */
  readonly show: (page: Page) => Promise<void>;
}

const quickApp = (displayName: string, description: string, fields: object = {}, properties: object = {}) => ({
  ...{ displayName, description, ...fields },
  applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
  applicationProperties: { temperature: 0.2, instructions: 'Be brief.', model: 'writer', ...properties },
});

await using upstream = await startScriptedUpstream();
await using service = await startProcess({
  configuration: {
    models: {
      demo: { displayName: 'Demo', description: 'Answers by rules, without a network.', upstreams: [{ protocol: 'demo' }] },
      writer: {
        displayName: 'Writer',
        description: 'A careful all-round model.',
        upstreams: [{ endpoint: upstream.endpoint }],
        pricing: { prompt: 0.000_003, completion: 0.000_015 },
      },
    },
    applications: {
      trips: {
        displayName: 'Trips',
        description: 'Plans journeys with the weather, a city guide and your calendar.',
        endpoint: `${upstream.url}/trips`,
        dependencies: ['calendar', 'weather', 'writer'],
      },
      calendar: quickApp('Calendar', 'Reads and writes your appointments.', { features: { consentRequired: true } }),
      weather: quickApp('Weather', 'Forecasts and climate of a place.'),
      mail: quickApp('Mail', 'Searches your mailbox.', { features: { consentRequired: true } }),
    },
    keys: { [callerKey]: { project: 'test' } },
    // Each picture starts with an empty list.
    page: { conversations: 'browser' },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  },
});
await using orders = await startScriptedUpstream(({ response }) => void response.end('{"order":"4711","state":"shipped"}'));

const orderState = {
  rest_api_method_info: {
    method_url: `${orders.url}/orders/{id}`,
    method_type: 'get',
  },
  open_ai_tool: {
    type: 'function',
    function: {
      name: 'order_state',
      description: 'Says where an order is.',
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
  },
};

const toolset = { type: 'rest-api', name: 'Orders', tools: [orderState] };
const properties = { instructions: 'Help customers of the shop, briefly.', web_api_toolset: [toolset] };
await store(service, 'shop', quickApp('Shop helper', 'Knows the orders of the shop.', {}, properties));

async function talk(page: Page, deployment: string, { question, events }: SampleConversation): Promise<void> {
  upstream.script(eventsReply(...events));
  await page.evaluate(`location.hash = '#/?with=${deployment}'`);
  await page.locator('.starter').first().waitFor();
  await page.locator('#message').fill(question);
  await page.locator('.composer [type=submit]').click();
  await page.locator('.reply').last().locator('.actions').waitFor();
}

const views: readonly View[] = [
  {
    name: 'chat',
    contextOptions: wide,
    async show(page) {
      await talk(page, 'writer', roots);
      await talk(page, 'trips', trip);
      await page.locator('.chart').waitFor();
      await page.locator('.banner').waitFor({ state: 'detached' });
      await page.locator('.stages > summary').click();
      await page.evaluate("document.querySelector('.thread').scrollTop = 0");
    },
  },
  {
    name: 'chat-dark',
    contextOptions: { ...wide, colorScheme: 'dark' },
    async show(page) {
      await talk(page, 'trips', trip);
      await talk(page, 'writer', roots);
      await page.locator('.katex-display').waitFor();
      await page.locator('.hljs-keyword').first().waitFor();
      await page.evaluate("document.querySelector('.thread').scrollTop = 0");
    },
  },
  {
    name: 'chat-phone',
    contextOptions: phone,
    async show(page) {
      await talk(page, 'trips', trip);
      await page.locator('.chart').waitFor();
      await page.evaluate("document.querySelector('.thread').scrollTop = 0");
    },
  },
  {
    name: 'choose',
    contextOptions: wide,
    show: (page) => page.locator('.picker').click(),
  },
  {
    name: 'consent',
    contextOptions: wide,
    async show(page) {
      await page.evaluate("location.hash = '#/consent/trips'");
      await page.locator('.graph').waitFor();
    },
  },
  {
    name: 'builder',
    contextOptions: wide,
    async show(page) {
      upstream.script(calls(['order_state', { id: '4711' }]), says('Your order **4711** was shipped this morning.'));
      await page.evaluate(`location.hash = '#/build/applications/${ownBucket}/shop'`);
      await page.locator('.builder-bar').waitFor();
      await page.getByRole('button', { name: 'Test chat', exact: true }).click();
      await page.locator('.test-chat #message').fill('Where is my order 4711?');
      await page.keyboard.press('Enter');
      await page.locator('.trace').waitFor();
      await page.locator('.trace > summary').click();
    },
  },
];

const selectedNames = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] });
for (const { name, contextOptions, show } of views.filter(
  (view) => selectedNames.length === 0 || selectedNames.includes(view.name),
)) {
  const context = await browser.newContext(contextOptions);
  const page = await context.newPage();
  await page.goto(`${service.url}/#key=${callerKey}`);
  await page.locator('.starter').first().waitFor();
  await show(page);
  for (let isDrawn = false; !isDrawn; ) isDrawn = await page.evaluate(isTypefaceLoaded);
  // Waits for animations to end.
  await page.waitForTimeout(400);
  const path = `${folder}${name}.png`;
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  const { size } = statSync(path);
  console.log(`docs/images/${name}.png: ${Math.round(size / 1000)} kB`);
  if (size > maxBytes) process.exitCode = 1;
  await context.close();
}
await browser.close();
