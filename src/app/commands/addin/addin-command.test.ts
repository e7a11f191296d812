import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCommand } from '../../cli.ts';
import { type AddinSettings, readAddinSettings } from './addin-command.ts';

/** Returns the settings for a command line. */
function readSettings(...args: string[]): Promise<AddinSettings> {
  const command = readCommand(['addin', ...args]);
  if (command.name !== 'addin') throw new Error(command.name === 'usage-error' ? command.message : command.name);
  return readAddinSettings(command.flags, { PARLEY_HOST: '0.0.0.0', PARLEY_PORT: '1234' });
}

describe('readAddinSettings', () => {
  it('prefers flags to the environment', async () => {
    const { upstream, host, port, tls, rules, trustedProxies } = await readSettings(
      '--upstream',
      'https://service.example/base',
      '--port',
      '0',
    );
    expect([upstream.href, host, port, tls, trustedProxies]).toEqual([
      'https://service.example/base',
      '0.0.0.0',
      0,
      undefined,
      [],
    ]);
    expect(rules).toEqual({ allowedOrigins: undefined, modelList: '{"data":[],"object":"list","has_more":false}' });
  });

  it.each([
    ['a missing upstream', [], /requires --upstream URL/],
    ['a TLS key without a certificate', ['--upstream', 'http://h', '--tls-key', 'k.pem'], /must be used together/],
    ['an additional argument', ['--upstream', 'http://h', 'more'], /does not accept "more"/],
    ['a flag that does not exist', ['--upsteam', 'http://h'], /--upsteam/],
    ['an upstream that is not a URL', ['--upstream', 'service:8080'], /must be a URL that starts with http/],
    ['an upstream with a password', ['--upstream', 'http://u:pw@h'], /must not contain a user name/],
    ['an upstream with a query', ['--upstream', 'http://h/?a=b'], /without \? or #/],
    ['an upstream with /msgapi', ['--upstream', 'http://h/msgapi/'], /base URL of the service, without \/msgapi/],
    ['a port out of range', ['--upstream', 'http://h', '--port', '99999'], /integer from 0 to 65535/],
    ['an origin with a path', ['--upstream', 'http://h', '--allowed-origin', 'https://a.example/'], /--allowed-origin must be/],
    ['an origin in uppercase', ['--upstream', 'http://h', '--allowed-origin', 'https://A.example'], /--allowed-origin must be/],
    ['a wildcard origin', ['--upstream', 'http://h', '--allowed-origin', '*'], /--allowed-origin must be/],
    ['a proxy that is not an IP address', ['--upstream', 'http://h', '--trusted-proxy', 'lb'], /--trusted-proxy must be/],
    ['a missing file', ['--upstream', 'http://h', '--models', '/no/such.json'], /\/no\/such\.json: cannot be read/],
  ])('rejects %s with a message that does not contain the password', async (_name, args, reason) => {
    const rejection = (async () => readSettings(...args))();
    await expect(rejection).rejects.toThrow(reason);
    await expect(rejection).rejects.not.toThrow(/:pw@/);
  });
});

describe('readAddinSettings with --models', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-models-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const read = async (text: string): Promise<AddinSettings> => {
    const file = join(folder, 'models.json');
    await writeFile(file, text);
    return readSettings('--upstream', 'http://h', '--models', file);
  };

  it('accepts a list of IDs and names, with or without "object"', async () => {
    const { rules } = await read(
      '[{"id": "a", "display_name": "A", "object": "model"}, {"id": "__proto__", "display_name": "B"}]',
    );
    expect(rules.modelList).toBe(
      '{"data":[{"id":"a","object":"model","display_name":"A"},{"id":"__proto__","object":"model","display_name":"B"}],"object":"list","has_more":false}',
    );
  });

  it.each([
    ['{"id": "a"}', /models\.json: must be an array of models/],
    ['[{"id": "a", "display_name": "A"', /models\.json: line 1, column \d+/],
    ['[{"id": "a", "display_name": "A"}, {"id": 1, "display_name": "B"}]', /models\.json: \[1\]\.id: must be/],
    ['[{"id": "a", "displayName": "A"}]', /models\.json: \[0\]\.displayName: .*display_name/],
    ['[{"id": "a"}]', /models\.json: \[0\]\.display_name/],
    ['[{"id": "a", "display_name": "A", "object": "list"}]', /models\.json: \[0\]\.object/],
    ['["a"]', /models\.json: \[0\]: must be/],
    ['', /models\.json: /],
  ])('rejects %s with the path of the error', async (text, reason) => {
    await expect(read(text)).rejects.toThrow(reason);
  });
});
