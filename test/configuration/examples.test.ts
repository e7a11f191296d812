import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkPaths, parseConfiguration } from '#test/check-files.ts';
import { findFreePort } from '#test/listening.ts';
import { startProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { spawnTied } from '#test/tied-process.ts';
import schema from '../../docs/configuration.schema.json' with { type: 'json' };

const folder = join(import.meta.dirname, '../../examples');
/** Files with the same extensions that are not configurations. */
const others: ReadonlySet<string> = new Set(['tools/forge.yaml', 'evaluation/cases.yaml']);
const examples = globSync('**/*.{jsonc,yaml}', { cwd: folder }).filter((name) => !others.has(name));

function read(name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8');
}

async function readValue(name: string, text?: string): Promise<Record<string, unknown>> {
  const parsed = await parseConfiguration(name, text ?? (await read(name)));
  return 'value' in parsed ? (parsed.value as Record<string, unknown>) : expect.unreachable();
}

/** Returns a value for each environment variable in the examples. */
async function environment(): Promise<Readonly<Record<string, string>>> {
  const texts = await Promise.all(examples.map(read));
  return Object.fromEntries([...texts.join().matchAll(/"?\$\{(\w+)\}/g)].map(([, name]) => [name, `secret-of-${name}`]));
}

describe('example', () => {
  const isValid = new Ajv2020({ allErrors: true, formats: { password: true } }).compile(schema);

  it('is listed in the README of the examples', async () => {
    const readme = await read('README.md');
    expect(examples.length).toBeGreaterThan(6);
    for (const name of examples) expect(readme).toContain(`(${name.replace(/parley\.\w+$/, '')})`);
  });

  it.each(examples)('passes the configuration check without warnings: %s', async (name) => {
    const { exitCode, lines } = await checkPaths([join(folder, name)], await environment());
    // Some examples have a short key, which is easy to type on a local machine.
    const others = lines.filter((line) => !line.includes('is a key of fewer than 16 characters'));
    expect(others).toEqual([expect.stringContaining('no errors')]);
    expect(exitCode).toBe(0);
  });

  it.each(examples)('matches the JSON Schema for editors before variables are replaced: %s', async (name) => {
    expect(isValid(await readValue(name))).toBe(true);
  });
});

describe('quick app example', () => {
  it('uses a web API and an MCP server, and cites its document', async () => {
    const port = String(await findFreePort());
    const main = join(folder, 'quick-app/shop.mjs');
    const shopServer = spawnTied(['env', `SHOP_PORT=${port}`, 'SHOP_TOKEN=t', process.execPath, main], { stopSignal: 'TERM' });
    onTestFinished(() => shopServer.stop());
    const text = (await read('quick-app/parley.jsonc')).replaceAll(':8090', `:${port}`);
    const configuration = await readValue('quick-app/parley.jsonc', text);
    await using node = await startProcess({ configuration, environment: { SHOP_TOKEN: 't', PARLEY_KEY: 'shop-key' } });
    const headers = withKey('shop-key');
    const { json } = await node.sendRequest({ method: 'GET', path: '/v1/bucket', headers });
    const { bucket } = json as { bucket: string };
    const upload = await node.sendRequest({
      method: 'PUT',
      path: `/v1/files/${bucket}/warranty.md`,
      headers: { ...headers, 'content-type': 'text/markdown' },
      body: await read('quick-app/warranty.md'),
    });
    expect(upload.status).toBe(200);
    const answers: unknown[] = [];
    const { properties } = startersIn(configuration);
    for (const content of properties.starters) {
      const body = { model: 'bicycle-shop', messages: [{ role: 'user', content }] };
      const { completion } = await node.sendRequest({ path: '/v1/chat/completions', headers, body });
      answers.push(completion.choices[0]?.message);
    }
    expect(answers).toMatchObject([
      { content: expect.stringContaining('640 euro') },
      { content: expect.stringContaining('ready on Friday') },
      { content: expect.stringContaining('ten years'), custom_content: { attachments: [{ title: 'warranty.md' }, {}, {}] } },
    ]);
  });
});

function startersIn(configuration: Record<string, unknown>) {
  const { applications } = configuration as {
    applications: { 'bicycle-shop': { applicationProperties: { starters: readonly string[] } } };
  };
  return { properties: applications['bicycle-shop'].applicationProperties };
}
