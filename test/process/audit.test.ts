import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the check against a registry that returns these advisories. If `advisories` is undefined, the registry rejects audits. */
async function audit(advisories: object | undefined): Promise<{ code: number; output: string }> {
  await using registry = await startRegistry(advisories);
  // npm caches advisories, so each run has a separate cache.
  await using cache = await openFolder();
  const env = { ...process.env, npm_config_registry: registry.url, npm_config_cache: cache.path };
  return await new Promise((resolve) => {
    execFile(process.execPath, ['scripts/check-audit.ts'], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

async function startRegistry(advisories: object | undefined) {
  const server = createServer((request, response) => {
    const isAudit = request.method === 'POST' && request.url === '/-/npm/v1/security/advisories/bulk';
    if (isAudit && advisories !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(advisories));
    } else response.writeHead(isAudit ? 405 : 404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const advisory = (severity: string, name = 'fastify') => ({
  [name]: [
    {
      ...{ id: 1, url: 'https://advisories.example/1', title: 'Smuggles requests', severity },
      ...{ vulnerable_versions: '>=1.0.0', cwe: [], cvss: { score: 9, vectorString: null } },
    },
  ],
});

describe('the audit of runtime dependencies', () => {
  it.each(['high', 'critical'])('fails for a %s advisory', async (severity) => {
    const { code, output } = await audit(advisory(severity));
    expect(output).toContain(`${severity}: fastify`);
    expect(output).toContain('Smuggles requests https://advisories.example/1');
    expect(code).toBe(1);
  });

  it('passes for a moderate advisory', async () => {
    const { code, output } = await audit(advisory('moderate'));
    expect(output).toMatch(/no high or critical advisory .*, [1-9]\d* of lower severity/);
    expect(code).toBe(0);
  });

  it('passes for a high advisory on a development tool', async () => {
    const { code, output } = await audit(advisory('high', 'vitest'));
    expect(output).toMatch(/no high or critical advisory .*, 0 of lower severity/);
    expect(code).toBe(0);
  });

  it('fails for a high advisory on a package of the page', async () => {
    expect((await audit(advisory('high', 'marked'))).code).toBe(1);
  });

  it('passes without advisories', async () => {
    expect(await audit({})).toEqual({ code: 0, output: expect.stringContaining('no high or critical advisory') });
  });

  it('passes with a note if the registry rejects audits', async () => {
    const { code, output } = await audit(undefined);
    expect(output).toContain('audit: NOT RUN, the registry returned no advisories: 405');
    expect(code).toBe(0);
  });
});
