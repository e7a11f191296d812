import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { isPortFree } from '#test/listening.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey, type ServiceOptions, startService, type TestService } from '#test/start-service.ts';
import { EmptyPages } from './empty-pages.ts';

/** Events that a test of the page must not cause. */
interface PageIssues {
  /** Requests to other origins than the service. */
  readonly externalRequests: string[];
  /** Violations of the content security policy and script errors. */
  readonly errors: string[];
}

export interface TestPage {
  readonly page: Page;
  readonly issues: PageIssues;
  /** Types a message and sends it. */
  sendMessage(text: string): Promise<void>;
  /** Waits until the last answer is complete. Returns its text. */
  readAnswer(): Promise<string>;
  reload(): Promise<void>;
}

export interface PageFixture extends AsyncDisposable {
  readonly browser: TestBrowser;
  readonly service: TestService;
  /** Scripted answers of the deployment `scripted` and the application `raw`. */
  readonly upstream: ScriptedUpstream;
  /** Opens a separate browser page, signs in, and starts a chat with a deployment. */
  open(deployment: string, options?: BrowserContextOptions): Promise<TestPage>;
  /** Opens a separate browser page at any address without signing in. */
  openAt(address: string, options?: BrowserContextOptions): Promise<TestPage>;
}

/** The part of a DOM element that these tests use. The DOM types are not available here. */
interface ElementLike {
  querySelector(selector: string): { readonly textContent: string | null } | null;
}

const quickApp = (fields: object) => ({
  applicationTypeSchemaId: 'https://example.com/custom_application_schemas/quickapps',
  ...fields,
});

const properties = (fields: object = {}) => ({ temperature: 0, instructions: 'Help.', model: 'demo', ...fields });

export interface TestBrowser {
  /** Opens a page without stored data for the current test. */
  open(url: string, options?: BrowserContextOptions): Promise<TestPage>;
}

let sharedPages: Promise<EmptyPages> | undefined;

/** Each process has a range of 10 ports below those that the system assigns. */
const firstPort = 20_000 + (process.pid % 1_000) * 10;

/**
 * Returns a free port, usually the same for each test file of this process. The browser keeps the compiled scripts of an address,
 * so the first page of a file needs half the CPU time.
 */
async function findPagePort(): Promise<number> {
  let port = firstPort;
  while (!(await isPortFree(port))) port += 1;
  return port;
}

/** Builds the page if its sources changed. Returns the browser that all tests of this process share. It ends with the process. */
export async function startBrowser(): Promise<TestBrowser> {
  sharedPages ??= openPages();
  const pages = await sharedPages;
  return { open: (url, options) => openPage(pages, url, options) };
}

async function openPages(): Promise<EmptyPages> {
  const script = fileURLToPath(new URL('../../scripts/build-web.ts', import.meta.url));
  const [browser] = await Promise.all([
    // A browser with windows needs 1.5 times the CPU time of the headless shell.
    chromium.launch({
      executablePath: '/usr/bin/chromium-headless-shell',
      args: ['--no-sandbox'],
    }),
    promisify(execFile)(process.execPath, [script, '--when-needed']),
  ]);
  return new EmptyPages(browser);
}

/** Starts a service for the browser. */
export async function startPageService(configuration: object, options: ServiceOptions = {}): Promise<TestService> {
  return startService(configuration, { port: await findPagePort(), ...options });
}

/** Starts a service with all its stores in a separate process for the browser. */
export async function startPageProcess(configuration: object): Promise<TestProcess> {
  return startProcess({ configuration, flags: ['--port', String(await findPagePort())] });
}

/** A configuration. Its models extend those of the fixture. */
export interface PageConfiguration {
  readonly models?: object;
  readonly [field: string]: unknown;
}

/** Starts the service with the current build of the page. */
export async function startPageFixture(
  configuration: PageConfiguration = {},
  options: ServiceOptions = {},
): Promise<PageFixture> {
  const browser = await startBrowser();
  const upstream = await startScriptedUpstream();
  const fullConfiguration = {
    ...configuration,
    models: {
      demo: { displayName: 'Demo', description: 'Answers by rules.', upstreams: [{ protocol: 'demo' }] },
      scripted: {
        displayName: 'Scripted',
        upstreams: [{ endpoint: upstream.endpoint }],
        pricing: { prompt: 0.001, completion: 0.002 },
      },
      vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }] },
      ...configuration.models,
    },
    applications: {
      raw: { displayName: 'Raw', endpoint: `${upstream.url}/raw` },
      mailbox: quickApp({ displayName: 'Mailbox', features: { consentRequired: true }, applicationProperties: properties() }),
      assistant: quickApp({
        displayName: 'Assistant',
        applicationProperties: properties({ applications_as_tools: ['mailbox'], starters: ['Look into my mailbox'] }),
      }),
    },
  };
  // The page renders each chunk separately. An unpaced answer needs a third of the CPU time.
  const service = await startPageService(fullConfiguration, { demoPaceMs: 0, ...options });
  const openAt = (address: string, options?: BrowserContextOptions) => browser.open(`${service.url}${address}`, options);
  return {
    browser,
    service,
    upstream,
    openAt,
    async open(deployment, options) {
      const opened = await openAt(`/#key=${callerKey}`, options);
      await opened.page.locator('#message').waitFor();
      await opened.page.evaluate(`location.hash = '#/?with=${encodeURIComponent(deployment)}'`);
      await opened.page.locator('.picker', { hasText: new RegExp(deployment.split('/').at(-1) ?? '', 'i') }).waitFor();
      await opened.page.locator('.starter').first().waitFor();
      return opened;
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      await upstream.close();
    },
  };
}

async function openPage(pages: EmptyPages, url: string, options: BrowserContextOptions = {}): Promise<TestPage> {
  const { origin } = new URL(url);
  const page = await pages.acquire(origin, options);
  const issues: PageIssues = { externalRequests: [], errors: [] };
  let hasNavigated = false;
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(origin);
    // The earlier document of a shared page may send requests to its own service until the new address is requested.
    hasNavigated ||= isOwn && request.isNavigationRequest();
    if (hasNavigated && !isOwn && !/^(blob|data):/.test(request.url())) issues.externalRequests.push(request.url());
  });
  page.on('pageerror', (error) => issues.errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) issues.errors.push(message.text());
  });
  await page.goto(url);
  return {
    page,
    issues,
    async sendMessage(text) {
      await page.locator('#message').fill(text);
      await page.keyboard.press('Enter');
    },
    async readAnswer() {
      const last = page.locator('.reply').last();
      await last.locator('.actions').waitFor();
      await last.locator(':scope > .markdown[aria-busy="true"]').waitFor({ state: 'detached' });
      return last.evaluate((reply: ElementLike) => reply.querySelector(':scope > .markdown')?.textContent ?? '');
    },
    async reload() {
      await page.reload();
      await page.locator('#message').waitFor();
    },
  };
}
