import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { type OpenapiImportFlags, readCommand } from '../cli.ts';
import { importOpenApiCommand } from './import-openapi-command.ts';

const plainDollar = '${';
const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: '/v1' }],
  security: [{ auth: [] }],
  components: { securitySchemes: { auth: { type: 'http', scheme: 'bearer' } } },
  paths: { '/pets': { get: { operationId: 'pets', summary: `Lists ${plainDollar}pets}`, responses: {} } } },
});
let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-'));
  file = join(folder, 'pets.json');
  writeFileSync(file, document);
});

afterAll(() => rmSync(folder, { recursive: true }));

function run(flags: Partial<OpenapiImportFlags> = {}) {
  return importOpenApiCommand({ document: file, base: 'https://pets.example/', isPrivateAllowed: false, ...flags });
}

describe('parley import-openapi', () => {
  it('prints toolsets with secrets as environment references and other text unchanged', async () => {
    const { exitCode, text, notes } = await run();
    expect([exitCode, notes]).toEqual([0, []]);
    expect(JSON.parse(text)).toMatchObject([
      {
        type: 'rest-api',
        name: 'Pets',
        authorization: { type: 'bearer', token: `${plainDollar}PETS_AUTH_TOKEN}` },
        tools: [
          {
            rest_api_method_info: { method_url: 'https://pets.example/v1/pets' },
            open_ai_tool: { function: { description: `Lists $${plainDollar}pets}` } },
          },
        ],
      },
    ]);
  });

  it('reports unusable operations, and exits with 1 if no operation is usable', async () => {
    const { exitCode, text, notes } = await run({ base: undefined });
    expect([exitCode, text]).toEqual([1, '[]']);
    expect(notes).toEqual(['pets was left out: its server URL is relative, and the address of the document is unknown.']);
    expect((await run({ include: ['pest'] })).notes).toEqual(['There is no operation named pest that can be a tool.']);
  });

  it.each<[string, Partial<OpenapiImportFlags>, RegExp]>([
    ['a missing file', { document: '/none/pets.json' }, /ENOENT/],
    ['a private address', { document: 'http://127.0.0.1:9/' }, /is or resolves to a blocked address.*--base/],
    ['an invalid address', { document: 'http://[/' }, /not valid/],
    ['a base that is not a URL', { base: 'pets' }, /--base/],
  ])('rejects %s', async (_description, flags, reason) => {
    const { exitCode, notes } = await run(flags);
    expect([exitCode, notes]).toEqual([1, [expect.stringMatching(reason)]]);
  });

  it('reads a document from a private address with --allow-private', async () => {
    await using server = await startScriptedUpstream(jsonReply(JSON.parse(document)));
    const flags = { document: `${server.url}/openapi.json`, base: undefined };
    expect((await run(flags)).notes).toEqual([expect.stringMatching(/is or resolves to a blocked address.*--allow-private/)]);
    const { exitCode, text, notes } = await run({ ...flags, isPrivateAllowed: true });
    expect([exitCode, notes]).toEqual([0, []]);
    expect(text).toContain(`${server.url}/v1/pets`);
  });

  it('accepts its flags in any combination', () => {
    const args = [
      'import-openapi',
      'a.yaml',
      '--include',
      'a, b',
      '--include',
      'c',
      '--exclude',
      'd',
      '--base',
      'https://x.example/',
      '--allow-private',
    ];
    expect(readCommand(args)).toEqual({
      name: 'import-openapi',
      flags: { document: 'a.yaml', include: ['a', 'b', 'c'], exclude: ['d'], base: 'https://x.example/', isPrivateAllowed: true },
    });
    expect(readCommand(['import-openapi', '--help'])).toMatchObject({ name: 'help' });
    for (const invalidArgs of [[], ['a', 'b'], ['a', '--nonsense']])
      expect(readCommand(['import-openapi', ...invalidArgs])).toMatchObject({ name: 'usage-error' });
  });
});
