import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';

/** The service with a demo configuration and a browser. */
export interface WebWorld extends AsyncDisposable {
  readonly service: TestProcess;
  /** Scripted answers of the deployment `scripted`. */
  readonly upstream: ScriptedUpstream;
  /** Opens an empty page in a new browser context. */
  openBlank(options?: BrowserContextOptions): Promise<Page>;
  /** Opens a page in a new browser context, signs in, and waits until a chat can start. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** Address of the page with a key that signs in. */
  readonly address: string;
}

const assistant = {
  displayName: 'Assistant',
  description: 'Helps with everyday questions.',
  applicationTypeSchemaId: 'https://example.com/custom_application_schemas/quickapps',
  applicationProperties: { temperature: 0, instructions: 'Help.', model: 'demo', starters: ['What can you do?'] },
};

/** Storage of chats. The browser can receive any number of them in one step. */
export interface WorldOptions {
  readonly conversations?: 'browser' | 'server';
  readonly environment?: Readonly<Record<string, string>>;
}

function toConfiguration(upstream: ScriptedUpstream, conversations: string): object {
  return {
    models: {
      demo: { displayName: 'Demo', description: 'Answers by rules.', upstreams: [{ protocol: 'demo' }] },
      scripted: { displayName: 'Scripted', upstreams: [{ endpoint: upstream.endpoint }] },
    },
    applications: { assistant },
    keys: { [callerKey]: { project: 'test' } },
    page: { conversations },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}

/** Starts the world. Throws if Chromium of Debian is not installed. */
export async function startWebWorld({ conversations = 'browser', environment = {} }: WorldOptions = {}): Promise<WebWorld> {
  const upstream = await startScriptedUpstream();
  const service = await startProcess({ configuration: toConfiguration(upstream, conversations), environment });
  const browser: Browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox'],
  });
  const address = `${service.url}/#key=${callerKey}`;
  const openBlank = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    return context.newPage();
  };
  return {
    ...{ service, upstream, address, openBlank },
    async open(options) {
      const page = await openBlank(options);
      await page.goto(address);
      await page.locator('.starter').first().waitFor();
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await service[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
