import type { BrowserContextOptions } from 'playwright-core';
import { callerKey, type TestService, withKey } from '#test/start-service.ts';
import { ownBucket } from '../applications/support.ts';
import type { TestBrowser, TestPage } from './support.ts';

/** Saves an application in the bucket of the signed-in user. */
export async function store(service: Pick<TestService, 'sendRequest'>, name: string, entry: object): Promise<void> {
  const path = `/v1/applications/${ownBucket}/${name}`;
  const { status, text } = await service.sendRequest({ method: 'PUT', path, headers: withKey(), body: entry });
  if (status >= 300) throw new Error(text);
}

interface EditorOptions {
  readonly browser: TestBrowser;
  readonly service: Pick<TestService, 'url'>;
  readonly options?: BrowserContextOptions | undefined;
}

/** Opens the editor of a stored application. */
export async function openEditor(name: string, { browser, service, options }: EditorOptions): Promise<TestPage> {
  const opened = await browser.open(`${service.url}/#key=${callerKey}`, options);
  await opened.page.locator('#message').waitFor();
  await opened.page.evaluate(`location.hash = '#/build/applications/${ownBucket}/${name}'`);
  await opened.page.locator('.builder-bar').waitFor();
  return opened;
}
