import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { jsonReply } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, quickApp, save } from '../applications/support.ts';
import { type PageFixture, startPageFixture } from './support.ts';

const alice = getProjectBucket('alice');

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture(
    {
      keys: { [callerKey]: { project: 'test' }, alice: { project: 'alice' } },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    },
    { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } },
  );
  const { service, upstream } = fixture;
  upstream.script(jsonReply(plainCompletion('Hello there.')));
  const open = { userRoles: ['default'] };
  const features = { configurationEndpoint: `${upstream.url}/configuration` };
  const bodies = {
    remote: { displayName: 'Remote', endpoint: `${upstream.url}/remote`, features, ...open },
    quick: quickApp({ starters: ['When is it open?'] }, { displayName: 'Quick', ...open }),
  };
  for (const [name, body] of Object.entries(bodies)) {
    const { status, text } = await save(service, getApplicationPath(name, alice), body, { 'api-key': 'alice' });
    if (status !== 201) throw new Error(text);
  }
});

afterAll(() => fixture[Symbol.asyncDispose]());

describe('the page of an application that another user shared', () => {
  it('sends no requests to the application before the user sends a message', async () => {
    const { upstream } = fixture;
    const { page, sendMessage, readAnswer, issues } = await fixture.open(`applications/${alice}/remote`);
    await page.locator('.starter').first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(upstream.requests.map(({ path }) => path)).toEqual([]);
    await sendMessage('Hi');
    expect(await readAnswer()).toBe('Hello there.');
    expect(upstream.requests.map(({ path }) => path)).not.toContain('/configuration');
    expect(issues).toEqual({ externalRequests: [], errors: [] });
  });

  it('shows the starters of the listing', async () => {
    const { page } = await fixture.open(`applications/${alice}/quick`);
    expect(await page.locator('.starter').allTextContents()).toEqual(['When is it open?']);
  });

  it('does not open in the editor', async () => {
    const { page } = await fixture.openAt(`/#key=${callerKey}`);
    await page.locator('#message').waitFor();
    await page.evaluate(`location.hash = '#/build/applications/${alice}/quick'`);
    await page.getByText('Only its owner can edit it.').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Application');
    expect(await page.getByRole('button', { name: 'Test chat' }).count()).toBe(0);
    expect(await page.locator('.builder-bar').count()).toBe(0);
    expect(await page.getByLabel('Description').count()).toBe(0);
  });
});
