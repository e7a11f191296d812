import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';
import { uiRoutes } from './routes.ts';

const deps = {
  listSignInOptions: async () => [],
  isFirstStart: () => false,
  settings: () => ({ conversations: 'server', sharing: true, offline: true }) as const,
};

describe('uiRoutes', () => {
  it('reads the page once, on the first request', async () => {
    await using folder = await openFolder();
    await mkdir(join(folder.path, 'assets'));
    await writeFile(join(folder.path, 'index.html'), 'first');
    const app = fastify();
    uiRoutes(app, { folder: folder.path, ...deps });
    await writeFile(join(folder.path, 'index.html'), 'second');
    await writeFile(join(folder.path, 'assets/a.js'), 'script');
    await app.ready();
    const answers = await Promise.all(['/', '/index.html', '/assets/a.js'].map((url) => app.inject(url)));
    expect(answers.map(({ body }) => body)).toEqual(['second', 'second', 'script']);
    await rm(join(folder.path, 'assets/a.js'));
    expect((await app.inject('/assets/a.js')).body).toBe('script');
  });

  it('reads the page again after an error', async () => {
    await using folder = await openFolder();
    const page = join(folder.path, 'page');
    await mkdir(page);
    await writeFile(join(page, 'index.html'), 'first');
    const app = fastify();
    uiRoutes(app, { folder: page, ...deps });
    await rename(page, `${page}-away`);
    expect((await app.inject('/')).statusCode).toBe(500);
    await rename(`${page}-away`, page);
    expect((await app.inject('/')).body).toBe('first');
  });

  it('returns build instructions if the page is not built', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-page-'));
    const app = fastify();
    uiRoutes(app, { folder, ...deps });
    const answer = await app.inject('/');
    expect([answer.statusCode, answer.body]).toEqual([503, expect.stringContaining('npm run build:web')]);
    await rm(folder, { recursive: true });
  });
});
