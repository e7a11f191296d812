import { describe, expect, it } from 'vitest';
import { checkFiles, checkValue, checkWithoutEnvironment } from '#test/check-files.ts';

const key = 'a-key-of-enough-length';
const demo = { upstreams: [{ protocol: 'demo' }] };
const usable = { models: { demo }, keys: { [key]: { project: 'p' } } };
const quickApps = 'https://any.example/custom_application_schemas/quickapps';

/** Returns the warnings of a valid configuration. */
async function listWarnings(fields: object): Promise<readonly string[]> {
  const lines = await checkValue({ ...usable, ...fields });
  expect(lines.at(-1)).toMatch(/^parley\.json: no errors \(/);
  return lines.slice(0, -1).map((line) => line.replace('warning: parley.json: ', ''));
}

describe('parley check', () => {
  it('warns about a key that can be guessed, without printing the key', async () => {
    const keys = { short: { project: 'p' }, named: { project: 'p', key: 'only-15-chars-x' }, [key]: { project: 'p' } };
    const message = 'is a key of fewer than 16 characters, which can be guessed. Create one with "openssl rand -hex 32"';
    expect(await listWarnings({ keys })).toEqual([`keys["***#1"]: ${message}`, `keys.named.key: ${message}`]);
    const digest = { project: 'p', sha256: 'a'.repeat(64) };
    expect(await listWarnings({ keys: { digest } })).toEqual([]);
  });

  it('warns about a key with characters that clients encode in different ways, and rejects one that no header can carry', async () => {
    expect(await listWarnings({ keys: { named: { project: 'p', key: 'schlüssel-der-abteilung' } } })).toEqual([
      'keys.named.key: contains non-ASCII characters, which clients encode in different ways. Use letters, digits, and - . _ ~',
    ]);
    const lines = await checkValue({ ...usable, keys: { named: { project: 'p', key: 'key-with-a-line\nbreak' } } });
    expect(lines).toEqual([expect.stringMatching(/^parley\.json: keys\.named\.key: is not a valid key: /)]);
    const [line] = await checkValue({ ...usable, keys: { named: { project: 'p', key: 'кључ-0123456789012' } } });
    expect(line).toContain('non-Latin-1 characters');
  });

  it('warns about a role that no caller can have', async () => {
    const roles = { default: {}, staff: {}, held: {}, admin: {}, auditor: {} };
    const keys = { [key]: { project: 'p', roles: ['held'] } };
    expect(await listWarnings({ roles, keys })).toEqual(
      ['staff', 'admin', 'auditor'].map(
        (role) =>
          `roles.${role}: is a role that no key or SCIM group has. Name it in a key or in scim.groups, or set rolesClaim of an identity provider`,
      ),
    );
    const identityProviders = { sso: { issuer: 'https://sso.example', audience: 'parley', rolesClaim: 'roles' } };
    expect(await listWarnings({ roles, keys, identityProviders })).toEqual([]);
    const scim = { groups: { Employees: ['staff', 'admin', 'auditor'] } };
    expect(await listWarnings({ roles, keys, scim })).toEqual([]);
  });

  it('warns about an endpoint without a path if its protocol needs /v1', async () => {
    const models = {
      bare: { upstreams: [{ endpoint: 'https://api.example' }, { endpoint: 'https://api.example/' }] },
      good: { upstreams: [{ endpoint: 'https://api.example/v1' }, { protocol: 'demo' }] },
      claude: {
        upstreams: [{ protocol: 'anthropic', endpoint: 'https://api.example' }],
        limits: { maxCompletionTokens: 64_000 },
      },
    };
    const called = {
      'bare.upstreams[0]': '/chat/completions',
      'bare.upstreams[1]': '/chat/completions',
      'claude.upstreams[0]': '/messages',
    };
    expect((await listWarnings({ models })).toSorted()).toEqual(
      Object.entries(called).map(
        ([upstream, path]) =>
          `models.${upstream}.endpoint: has no path, and Parley calls ${path} below it. Most upstreams need /v1 at the end`,
      ),
    );
  });

  it('warns about tools at private addresses, unless security.allowPrivateNetworks allows them', async () => {
    const mcp = (url: string) => ({ type: 'mcp', name: 'tools', mcp_server_info: { url, protocol: 'streamable_http' } });
    const app = (...toolsets: readonly object[]) => ({
      applicationTypeSchemaId: quickApps,
      applicationProperties: { model: 'demo', temperature: 0, instructions: 'Help.', mcp_toolset: toolsets },
    });
    const fields = (url: string, more: object = {}) => ({
      addons: { desk: { url: 'http://10.0.0.7/openapi.json' }, world: { url: 'https://desk.example/openapi.json' } },
      applications: { app: app(mcp(url)) },
      ...more,
    });
    const message = (host: string) =>
      `is at ${host}, a private address that tools cannot call. Add it to security.allowPrivateNetworks if you trust it`;
    const path = 'applications.app.applicationProperties.mcp_toolset[0].mcp_server_info.url';
    for (const [url, host] of [
      ['http://192.168.1.5:8080/mcp', '192.168.1.5'],
      ['http://localhost:3000/mcp', 'localhost'],
      ['http://[::1]/mcp', '[::1]'],
    ] as const)
      expect(await listWarnings(fields(url))).toEqual([`addons.desk.url: ${message('10.0.0.7')}`, `${path}: ${message(host)}`]);
    const security = { allowPrivateNetworks: ['10.0.0.0/8', 'localhost'] };
    expect(await listWarnings(fields('http://localhost:3000/mcp', { security }))).toEqual([]);
  });

  it('does not warn about settings of an application with an endpoint, which have their own form', async () => {
    const settings = { url: 'http://192.168.1.5/', document_relative_url: 'files/b/photo.png' };
    const app = {
      endpoint: 'https://app.example/chat',
      applicationTypeSchemaId: 'https://app.example/form',
      applicationProperties: settings,
    };
    expect(await listWarnings({ applications: { app } })).toEqual([]);
  });

  it('suggests the import command for a LiteLLM configuration', async () => {
    const yaml = 'model_list:\n  - model_name: gpt\n    litellm_params: {model: openai/gpt-4o}\n';
    expect(await checkFiles({ 'config.yaml': yaml })).toContain(
      'config.yaml: model_list: is not a known key. Convert a LiteLLM configuration with parley import litellm FILE',
    );
  });
});

describe('parley check --allow-missing-env', () => {
  const check = checkWithoutEnvironment;
  const reference = (name: string) => `\${${name}}`;
  const models = (upstream: object) => ({ m: { upstreams: [{ endpoint: `https://${reference('HOST')}/v1`, ...upstream }] } });
  const keys = { [reference('FIRST')]: { project: 'p' }, [reference('SECOND')]: { project: 'p' } };

  it('accepts unset variables and warns about each', async () => {
    const value = { keys, models: models({ key: reference('KEY'), weight: reference('WEIGHT') }) };
    expect(await check(value)).toEqual([
      0,
      `warning: parley.json: keys["${reference('FIRST')}"]: needs the environment variable FIRST, which is not set`,
      `warning: parley.json: keys["${reference('SECOND')}"]: needs the environment variable SECOND, which is not set`,
      'warning: parley.json: models.m.upstreams[0].endpoint: needs the environment variable HOST, which is not set',
      'warning: parley.json: models.m.upstreams[0].key: needs the environment variable KEY, which is not set',
      'warning: parley.json: models.m.upstreams[0].weight: needs the environment variable WEIGHT, which is not set',
      'parley.json: no errors (1 model, 0 applications, 0 addons, 2 keys, 0 roles, 0 identity providers)',
    ]);
  });

  it('accepts missing files of secrets and warns about each', async () => {
    const value = {
      keys: { k: { project: 'p', key: reference('file:/gone') } },
      models: { m: { upstreams: [{ protocol: 'demo' }] } },
    };
    expect(await check(value)).toEqual([
      0,
      'warning: parley.json: keys.k.key: needs the file /gone, which does not exist',
      expect.stringContaining('parley.json: no errors'),
    ]);
  });

  it('still finds other errors', async () => {
    expect(await check({ keys, models: models({ wieght: 1 }) })).toEqual([
      1,
      'parley.json: models.m.upstreams[0].wieght: is not a known key. Did you mean weight?',
      ...['FIRST', 'SECOND'].map(
        (name) => `warning: parley.json: keys["${reference(name)}"]: needs the environment variable ${name}, which is not set`,
      ),
      'warning: parley.json: models.m.upstreams[0].endpoint: needs the environment variable HOST, which is not set',
    ]);
  });
});
