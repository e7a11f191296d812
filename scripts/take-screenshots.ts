/** Takes the screenshots of docs/images from the built page. Arguments select pictures by name. */

import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Chunk, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { delta, finish, text } from '#test/chunks.ts';
import { eventsReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { ownBucket } from '../test/applications/support.ts';
import { calls, says } from '../test/quick-apps/support.ts';
import { store } from '../test/web/builder-support.ts';

/** A conversation of the screenshots: a question, and the events of its answer. */
interface SampleConversation {
  readonly question: string;
  readonly events: readonly Chunk[];
}

const trip: SampleConversation = {
  question: 'Two days in Lisbon in October: when is it dry, and what does a day cost?',
  events: createEvents(
    {
      index: 0,
      name: 'Asking Weather',
      content: '**Arguments**\n\n```json\n{"city": "Lisbon", "month": 10}\n```\n',
      status: null,
    },
    { index: 1, name: 'GET /v1/climate', content: 'Status 200', status: 'completed' },
    { index: 0, content: '\n**Result**\n\n9 rainy days, 62 mm.', status: 'completed' },
    { index: 2, name: 'Reading “City guide.pdf”', content: 'Two passages, pages 12 and 31.', status: 'completed' },
    'Go in the **first half of October**: on average it rains on three of those days, and the evenings are still mild.\n\n' +
      '| | Simple | Comfortable |\n|:--|--:|--:|\n| Night | €70 | €140 |\n| Meals | €25 | €55 |\n| Tram and train | €7 | €7 |\n' +
      '| **A day** | **€102** | **€202** |\n\n',
    {
      attachments: [
        {
          index: 0,
          title: 'Rainy days',
          type: 'application/vnd.plotly.v1+json',
          data: JSON.stringify({
            data: [
              { type: 'bar', name: 'Rainy days', x: ['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'], y: [1, 1, 4, 9, 11, 12] },
              {
                type: 'scatter',
                mode: 'lines',
                name: 'Highest °C',
                x: ['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
                y: [28, 28, 26, 22, 18, 15],
              },
            ],
          }),
        },
        {
          index: 1,
          title: 'City guide, page 31',
          reference_url: 'https://guide.example.com/lisbon#31',
        },
      ],
    },
  ),
};

const roots: SampleConversation = {
  question: 'How do I find the roots of a quadratic, by hand and in Python?',
  events: createEvents(
    'By hand, for $ax^2 + bx + c = 0$ with $a \\neq 0$:\n\n$$x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}$$\n\n' +
      'What stands under the root tells how many there are. In Python:\n\n' +
      '```python\nimport cmath\n\ndef roots(a: float, b: float, c: float) -> tuple[complex, complex]:\n' +
      '    """Both roots, complex ones too."""\n    d = cmath.sqrt(b * b - 4 * a * c)\n    return (-b + d) / (2 * a), (-b - d) / (2 * a)\n\n' +
      'print(roots(1, -3, 2))  # ((2+0j), (1+0j))\n```\n\nTry it with:\n\n1. `roots(1, 2, 1)` – one root, twice\n2. `roots(1, 0, 1)` – none on the line\n',
  ),
};

/** Returns the events of an answer from its stages, texts, and content. */
function createEvents(...parts: readonly (string | StageDelta | ResponseCustomContent)[]): readonly Chunk[] {
  return [delta({ role: 'assistant' }), ...parts.map(toEvent), finish()];
}

function toEvent(part: string | StageDelta | ResponseCustomContent): Chunk {
  if (typeof part === 'string') return text(part);
  return delta({ custom_content: isStage(part) ? { stages: [part] } : part });
}

function isStage(part: StageDelta | ResponseCustomContent): part is StageDelta {
  return 'index' in part;
}

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
      await page.locator('.consent-graph').waitFor();
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
