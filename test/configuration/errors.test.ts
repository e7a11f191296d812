// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkFiles, checkPaths, checkValue, makeFolder } from '#test/check-files.ts';

/** A number beyond 1.8e308, which Parley keeps as written. */
const infinite = (JSON as unknown as { rawJSON(text: string): object }).rawJSON('1e309');

const digestOfX = hash('sha256', 'x', 'hex');
const demo = { upstreams: [{ protocol: 'demo' }] };
const quickApps = 'https://any.example/custom_application_schemas/quickapps';

/** One upstream of a model `m`. */
const upstream = (entry: unknown) => ({ models: { m: { upstreams: [entry] } } });
const application = (entry: unknown) => ({ applications: { a: entry } });
const quickApp = (applicationProperties: object) => application({ applicationTypeSchemaId: quickApps, applicationProperties });
const authorization = (entry: unknown) => ({ addons: { a: { url: 'https://a.example', authorization: entry } } });

const faultyConfigurations: readonly (readonly [kind: string, value: unknown, ...lines: string[]])[] = [
  ['an unknown top-level key', { modles: {} }, 'modles: is not a known key. Did you mean models?'],
  [
    'a misspelled feature',
    { models: { m: { ...demo, features: { toolSupported: true } } } },
    'models.m.features.toolSupported: is not a known key. Did you mean toolsSupported?',
  ],
  [
    'the origin null',
    { security: { allowedOrigins: ['null'] } },
    'security.allowedOrigins[0]: must be an origin as browsers send it, such as https://app.example, or *',
  ],
  ['an unknown key without a similar known key', { zzz: 1 }, 'zzz: is not a known key'],
  [
    'an unknown key in snake case',
    { security: { max_body_bytes: 1 } },
    'security.max_body_bytes: is not a known key. Did you mean maxBodyBytes?',
  ],
  [
    'an unknown nested key',
    upstream({ endpont: 'http://x', protocol: 'demo' }),
    'models.m.upstreams[0].endpont: is not a known key. Did you mean endpoint?',
  ],
  ['a missing list of upstreams', { models: { m: {} } }, 'models.m.upstreams: is missing'],
  ['an empty list of upstreams', { models: { m: { upstreams: [] } } }, 'models.m.upstreams: must have at least one item'],
  ['a section of the wrong type', { models: [] }, 'models: must be an object, but is a list'],
  ['an empty section', { models: null }, 'models: must be an object, but is null'],
  [
    'a string instead of a number',
    upstream({ protocol: 'demo', weight: '1' }),
    'models.m.upstreams[0].weight: must be a number, but is a string',
  ],
  [
    'a number instead of a string',
    { models: { m: { ...demo, displayName: 4 } } },
    'models.m.displayName: must be a string, but is a number',
  ],
  ['a string instead of a boolean', { addin: { enabled: 'yes' } }, 'addin.enabled: must be true or false, but is a string'],
  ['a fraction instead of an integer', { tools: { timeoutMs: 1.5 } }, 'tools.timeoutMs: must be an integer'],
  ['a number that is too small', { security: { maxBodyBytes: 0 } }, 'security.maxBodyBytes: must be 1 or more'],
  ['a number beyond the maximum of a timer', { tools: { timeoutMs: 1e12 } }, 'tools.timeoutMs: must be 2147483647 or less'],
  ['a negative weight', upstream({ protocol: 'demo', weight: -1 }), 'models.m.upstreams[0].weight: must be 0 or more'],
  ['an empty string', { models: { m: { ...demo, displayName: '' } } }, 'models.m.displayName: must not be empty'],
  [
    'an unknown value of an enumeration',
    { models: { m: { ...demo, type: 'chats' } } },
    'models.m.type: must be one of chat, embedding. Did you mean chat?',
  ],
  [
    'an unknown protocol',
    upstream({ protocol: 'soap' }),
    'models.m.upstreams[0].protocol: must be one of openai, azure, anthropic, bedrock, vertex, gemini, mistral, dial, demo',
  ],
  [
    'an upstream without an endpoint',
    upstream({}),
    'models.m.upstreams[0].endpoint: is missing, but an upstream with the protocol openai requires it',
  ],
  [
    'an azure upstream without an endpoint',
    upstream({ protocol: 'azure' }),
    'models.m.upstreams[0].endpoint: is missing, but an upstream with the protocol azure requires it',
  ],
  [
    'an endpoint that is not an HTTP URL',
    upstream({ endpoint: 'ftp://x' }),
    'models.m.upstreams[0].endpoint: must be an address that begins with http:// or https://',
  ],
  [
    'an endpoint without a host',
    upstream({ endpoint: 'http://' }),
    'models.m.upstreams[0].endpoint: must be an address that begins with http:// or https://',
  ],
  [
    'an API version that is not a date',
    upstream({ protocol: 'azure', endpoint: 'http://x', apiVersion: '2024-02-30' }),
    'models.m.upstreams[0].apiVersion: must be a calendar date YYYY-MM-DD, optionally with -preview',
  ],
  [
    'a key that ends in a line break',
    upstream({ endpoint: 'http://x', key: 'k\n' }),
    'models.m.upstreams[0].key: must not contain a line break or another character that is invalid in a header field',
  ],
  [
    'an invalid header name',
    upstream({ protocol: 'demo', headers: { 'a b': 'x' } }),
    'models.m.upstreams[0].headers["a b"]: is not a valid header field name',
  ],
  [
    'an invalid header value',
    upstream({ protocol: 'demo', headers: { a: 'x\r\ny: z' } }),
    'models.m.upstreams[0].headers.a: must not contain a line break or another character that is invalid in a header field',
  ],
  [
    'an ID with an empty segment',
    { models: { 'a//b': demo } },
    'models["a//b"]: is not a valid ID: it must have no empty, "." or ".." segments, no control characters, and at most 1024 characters',
  ],
  [
    'an ID with a dot segment',
    { models: { 'a/../b': demo } },
    'models["a/../b"]: is not a valid ID: it must have no empty, "." or ".." segments, no control characters, and at most 1024 characters',
  ],
  [
    'an ID with NUL',
    { models: { 'a\0b': demo } },
    'models["a\\u0000b"]: is not a valid ID: it must have no empty, "." or ".." segments, no control characters, and at most 1024 characters',
  ],
  [
    'an empty ID',
    { models: { '': demo } },
    'models[""]: is not a valid ID: it must have no empty, "." or ".." segments, no control characters, and at most 1024 characters',
  ],
  [
    'an ID with the prefix of saved applications',
    { models: { 'applications/b/x': demo } },
    'models["applications/b/x"]: is not a valid ID: the prefix applications/ is reserved for applications that are created through the API',
  ],
  [
    'an ID of two deployments',
    { models: { x: demo }, applications: { x: { endpoint: 'http://x' } } },
    'applications.x: is also the ID of a model, but models and applications share one namespace',
  ],
  [
    'an application without an endpoint and a type',
    application({}),
    'applications.a.endpoint: is missing: an application needs it, or applicationTypeSchemaId with applicationProperties',
  ],
  [
    'an endpoint with properties but no type',
    application({ endpoint: 'http://x', applicationProperties: {} }),
    'applications.a.applicationTypeSchemaId: is missing, but applicationProperties requires it',
  ],
  [
    'an adapter without an endpoint',
    { models: { m: { upstreams: [{ protocol: 'dial' }] } } },
    'models.m.endpoint: is missing, but upstreams with the protocol dial are called at the endpoint of their model',
  ],
  [
    'an endpoint that is never called',
    { models: { m: { endpoint: 'http://x', upstreams: [{ endpoint: 'http://y' }] } } },
    'models.m.endpoint: is never called, because only upstreams with the protocol dial are called at the endpoint of their model',
  ],
  [
    'an application without properties',
    application({ applicationTypeSchemaId: quickApps }),
    'applications.a.applicationProperties: is missing, but applicationTypeSchemaId requires it',
  ],
  [
    'an application without a type',
    application({ applicationProperties: {} }),
    'applications.a.applicationTypeSchemaId: is missing, but applicationProperties requires it',
  ],
  [
    'an application of an unknown type',
    application({ applicationTypeSchemaId: 'x/slowapps', applicationProperties: {} }),
    'applications.a.applicationTypeSchemaId: is not a known application type: it must end in /custom_application_schemas/quickapps',
  ],
  [
    'consentRequired that is not a boolean',
    application({ endpoint: 'http://x', features: { consentRequired: 'no' } }),
    'applications.a.features.consentRequired: must be true or false, but is a string',
  ],
  ...['consentrequired', 'consentRequird', 'consent_required', 'CONSENTREQUIRED', 'conesntRequired'].map(
    (key) =>
      [
        `a misspelled feature, ${key}`,
        {
          models: { m: { ...demo, features: { [key]: true } } },
          applications: { a: { endpoint: 'http://x', features: { [key]: true } } },
        },
        `models.m.features.${key}: is not a known key. Did you mean consentRequired?`,
        `applications.a.features.${key}: is not a known key. Did you mean consentRequired?`,
      ] as const,
  ),
  [
    'misspelled settings of a quick app',
    { models: { m: demo }, ...quickApp({ model: 'm', instructions: '', temperature: 0, modle: 'm', temprature: 0 }) },
    'applications.a.applicationProperties.modle: is not a known key. Did you mean model?',
    'applications.a.applicationProperties.temprature: is not a known key. Did you mean temperature?',
  ],
  [
    'a misspelled model of a quick app',
    { models: { demo }, ...quickApp({ model: 'dmeo', instructions: '', temperature: 0 }) },
    'applications.a.applicationProperties.model: names "dmeo", a deployment that is not configured. Did you mean demo?',
  ],
  [
    'dependencies that are not a list',
    application({ endpoint: 'http://x', dependencies: 'm' }),
    'applications.a.dependencies: must be a list, but is a string',
  ],
  ['an authorization that is not an object', authorization('x'), 'addons.a.authorization: must be an object, but is a string'],
  [
    'an authorization without a type',
    authorization({ token: 'x' }),
    'addons.a.authorization.type: is missing and must be one of api_key, basic, bearer, client_id_secret',
  ],
  [
    'an authorization of an unknown type',
    authorization({ type: 'barer', token: 'x' }),
    'addons.a.authorization.type: must be one of api_key, basic, bearer, client_id_secret. Did you mean bearer?',
  ],
  [
    'an authorization that lacks a field',
    authorization({ type: 'basic', username: 'x' }),
    'addons.a.authorization.password: is missing',
  ],
  ['a key without a project', { keys: { mine: { key: 'x' } } }, 'keys.mine.project: is missing'],
  [
    'a key with role and roles',
    { keys: { mine: { key: 'x', project: 'p', role: 'a', roles: ['b'] } } },
    'keys.mine.role: cannot be combined with roles',
  ],
  [
    'a key that ends in a line break',
    { keys: { mine: { key: 'x\n', project: 'p' } } },
    'keys.mine.key: is not a valid key: it must not contain control or non-Latin-1 characters, or start or end with white space. Check for a trailing line break',
  ],
  ['an empty key', { keys: { '': { project: 'p' } } }, 'keys["***#1"]: is not a valid key: it must not be empty'],
  [
    'a duplicate key',
    { keys: { a: { key: 'x', project: 'p' }, x: { project: 'q' } } },
    'keys["***#2"]: is also the key of another entry',
  ],
  [
    'a key and its digest in one entry',
    { keys: { a: { key: 'x', sha256: digestOfX, project: 'p' } } },
    'keys.a.sha256: cannot be combined with key',
  ],
  [
    'a duplicate key, once as its digest',
    { keys: { x: { project: 'p' }, b: { sha256: digestOfX.toUpperCase(), project: 'q' } } },
    'keys.b.sha256: is also the key of another entry',
  ],
  [
    'an invalid digest',
    { keys: { a: { sha256: 'abc', project: 'p' } } },
    'keys.a.sha256: must be a SHA-256 digest: 64 hexadecimal digits',
  ],
  [
    'a limit that is not a number',
    { roles: { r: { limits: { '*': { minute: 'many' } } } } },
    'roles.r.limits["*"].minute: must be an integer, but is a string',
  ],
  [
    'an unknown window',
    { roles: { r: { limits: { '*': { requestsDay: 1 } } } } },
    'roles.r.limits["*"].requestsDay: is not a known key. Did you mean requestDay?',
  ],
  [
    'a misspelled selfService',
    { roles: { r: { selfservice: { keys: 1, maxDays: 1 } } } },
    'roles.r.selfservice: is not a known key. Did you mean selfService?',
  ],
  ['selfService without maxDays', { roles: { r: { selfService: { keys: 1 } } } }, 'roles.r.selfService.maxDays: is missing'],
  [
    'selfService with 0 keys',
    { roles: { r: { selfService: { keys: 0, maxDays: 1 } } } },
    'roles.r.selfService.keys: must be 1 or more',
  ],
  [
    'selfService with too many days',
    { roles: { r: { selfService: { keys: 1, maxDays: 1e6 } } } },
    'roles.r.selfService.maxDays: must be 3650 or less',
  ],
  [
    'a cost limit that is not a number',
    { roles: { r: { costLimit: { day: '1 USD' } } } },
    'roles.r.costLimit.day: must be a number, but is a string',
  ],
  [
    'a default beyond its bounds',
    { models: { m: { ...demo, defaults: { temperature: 3 } } } },
    'models.m.defaults.temperature: must be at most 2',
  ],
  [
    'a default number of tokens that is not an integer',
    { models: { m: { ...demo, defaults: { max_completion_tokens: 1.5 } } } },
    'models.m.defaults.max_completion_tokens: must be an integer',
  ],
  [
    'a default that is not finite',
    { models: { m: { ...demo, defaults: { seed: infinite } } } },
    'models.m.defaults.seed: must be a finite number',
  ],
  [
    'messages as a default',
    { models: { m: { ...demo, defaults: { messages: [] } } } },
    'models.m.defaults.messages: cannot be a default',
  ],
  [
    'a header that Parley sets',
    upstream({ protocol: 'demo', headers: { Host: 'x' } }),
    'models.m.upstreams[0].headers.Host: is set by Parley and cannot be configured',
  ],
  ['a provider without its issuer', { identityProviders: { p: {} } }, 'identityProviders.p.issuer: is missing'],
  [
    'a network with an invalid prefix length',
    { security: { allowPrivateNetworks: ['10.0.0.0/33'] } },
    'security.allowPrivateNetworks[0]: must be a host name, an address, or a network such as 10.0.0.0/8',
  ],
  [
    'a network that is a URL',
    { security: { allowPrivateNetworks: ['http://x'] } },
    'security.allowPrivateNetworks[0]: must be a host name, an address, or a network such as 10.0.0.0/8',
  ],
  [
    'a proxy that is a host',
    { security: { trustedProxies: ['10.0.0.1', 'proxy'] } },
    'security.trustedProxies[1]: must be an address, or a network such as 10.0.0.0/8',
  ],
  [
    'a prefix that ends with a slash',
    { addin: { prefix: '/x/' } },
    'addin.prefix: must be a path that begins with a slash and does not end with one, such as /addin',
  ],
  [
    'an alias with a leading slash',
    { aliases: { compat: ['/x'] } },
    'aliases.compat[0]: must be a path prefix of letters, digits and . _ ~ - without a slash at either end, such as openai',
  ],
  ['an alias that is reserved', { aliases: { compat: ['v1'] } }, 'aliases.compat[0]: is reserved for paths of Parley'],
  [
    'a prefix of the add-in gateway that hides paths of the service',
    { addin: { prefix: '/v1/addin' } },
    'addin.prefix: is reserved for paths of Parley',
  ],
  [
    'a prefix of the add-in gateway that hides an alias',
    { addin: { prefix: '/anthropic' } },
    'addin.prefix: is reserved for paths of Parley',
  ],
  [
    'a prefix of the add-in gateway that hides a configured alias',
    { addin: { prefix: '/x' }, aliases: { compat: ['x'] } },
    'addin.prefix: is reserved for paths of Parley',
  ],
  [
    'an alias of two surfaces',
    { aliases: { compat: ['x'], msgapi: ['x'] } },
    'aliases.msgapi[0]: is a duplicate of another alias',
  ],
  [
    'an unknown title model',
    { models: { small: demo }, page: { titleModel: 'smal' } },
    'page.titleModel: names "smal", a model that is not configured. Did you mean small?',
  ],
  [
    'a title model that is not a chat model',
    { models: { vectors: { ...demo, type: 'embedding' } }, page: { titleModel: 'vectors' } },
    'page.titleModel: names a model that is not a chat model',
  ],
  [
    'an unknown embedding model',
    { retrieval: { embeddingModel: 'x' } },
    'retrieval.embeddingModel: names "x", a model that is not configured',
  ],
  [
    'a misspelled embedding model',
    { models: { m: demo, vectors: { ...demo, type: 'embedding' } }, retrieval: { embeddingModel: 'vetcors' } },
    'retrieval.embeddingModel: names "vetcors", a model that is not configured. Did you mean vectors?',
  ],
  [
    'an embedding model that is a chat model',
    { models: { m: demo }, retrieval: { embeddingModel: 'm' } },
    'retrieval.embeddingModel: names a model that is not an embedding model',
  ],
  [
    'an unknown value of directCalls',
    { consent: { directCalls: 'requires' } },
    'consent.directCalls: must be one of allow, require. Did you mean require?',
  ],
  ['a list instead of the configuration object', [], 'must contain an object'],
  [
    'a missing variable',
    upstream({ endpoint: 'https://x', key: '${NOT_SET}' }),
    'models.m.upstreams[0].key: needs the environment variable NOT_SET, which is not set',
  ],
  [
    'a missing variable in a URL',
    upstream({ endpoint: 'https://${NOT_SET}/v1' }),
    'models.m.upstreams[0].endpoint: needs the environment variable NOT_SET, which is not set',
  ],
  [
    'a missing variable in a key',
    { keys: { '${NOT_SET}': { project: 'p' } } },
    'keys["${NOT_SET}"]: needs the environment variable NOT_SET, which is not set',
  ],
  [
    'a reference with a default',
    { models: { m: { ...demo, displayName: '${A:-b}' } } },
    'models.m.displayName: has a malformed reference to a variable. Write $${ for a literal ${',
  ],
  [
    'a reference without a closing brace',
    { models: { m: { ...demo, displayName: 'a ${B' } } },
    'models.m.displayName: has a malformed reference to a variable. Write $${ for a literal ${',
  ],
];

describe('parley check', () => {
  it.each(faultyConfigurations)('reports %s', async (_, value, ...lines) => {
    expect(await checkValue(value)).toEqual(lines.map((line) => `parley.json: ${line}`));
  });

  it('reports all errors together', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
    const lines = await checkValue({ models: Object.fromEntries(ids.map((id) => [id, { upstreams: [] }])) });
    expect(lines).toEqual(ids.map((id) => `parley.json: models.${id}.upstreams: must have at least one item`));
  });

  it('reports errors of the schema and of other rules together', async () => {
    const lines = await checkValue({ models: { 'a/..': demo, b: { upstreams: [{}], extra: 1 } } });
    expect(lines).toEqual([
      'parley.json: models.b.extra: is not a known key',
      'parley.json: models["a/.."]: is not a valid ID: it must have no empty, "." or ".." segments, no control characters, and at most 1024 characters',
      'parley.json: models.b.upstreams[0].endpoint: is missing, but an upstream with the protocol openai requires it',
    ]);
  });

  it('names the file with the invalid value', async () => {
    const lines = await checkFiles({
      'base.json': '{"models":{"m":{"upstreams":[{"protocol":"demo"}],"type":"chatt"}},"tools":{"maxTurns":0}}',
      'local.yaml': 'models:\n  m:\n    displayName: 3\ntools:\n  timeoutMs: 0\n',
    });
    expect(lines).toEqual([
      'base.json: models.m.type: must be one of chat, embedding. Did you mean chat?',
      'local.yaml: models.m.displayName: must be a string, but is a number',
      'local.yaml: tools.timeoutMs: must be 1 or more',
      'base.json: tools.maxTurns: must be 1 or more',
    ]);
  });

  it('reports a missing file, a folder, a file that is not UTF-8, and an unknown extension', async () => {
    await using folder = await makeFolder();
    await folder.write('folder.json/inside', '');
    await folder.write('a.toml', '');
    await writeFile(join(folder.path, 'latin1.json'), Buffer.from('{"\xe9":1}', 'latin1'));
    const names = ['gone.json', 'folder.json', 'latin1.json', 'a.toml'];
    const { lines, exitCode } = await checkPaths(names.map((name) => join(folder.path, name)));
    expect(exitCode).toBe(1);
    expect(lines.map((line) => line.replace(`${folder.path}/`, ''))).toEqual([
      'gone.json: does not exist',
      'folder.json: is a folder',
      'latin1.json: is not UTF-8 text',
      'a.toml: must have a name that ends in .json, .jsonc, .yaml, .yml',
    ]);
  });

  it('reports an empty file, also next to other files', async () => {
    const lines = await checkFiles({ 'a.json': JSON.stringify({ models: { m: demo } }), 'b.yaml': '# to come\n' });
    expect(lines).toEqual(['b.yaml: is empty. Write {} for an empty configuration, or start without a file to run the demo']);
  });

  it('exits with 1 if no file is named', async () => {
    expect(await checkPaths([])).toEqual({ exitCode: 1, lines: ['parley check: specify at least one file'] });
  });

  it('reports warnings next to errors, but no warning that follows from an error', async () => {
    const azure = { upstreams: [{ protocol: 'azure', endpoint: 'http://x' }] };
    const value = {
      models: { m: { ...demo, dependencies: ['faulty'] }, faulty: { upstreams: [{ protocol: 'nobody' }] }, z: azure },
      keys: { k: { project: 'p' } },
    };
    expect(await checkValue(value)).toEqual([
      expect.stringMatching(/^parley\.json: models\.faulty\.upstreams\[0\]\.protocol: /),
      'warning: parley.json: models.z.upstreams[0].apiVersion: is missing, and most azure upstreams return 404 without it',
    ]);
  });

  it.each([
    ['openai', 'https://x.example/v1/chat/completions', 'chat/completions'],
    ['openai', 'https://x.example/v1/embeddings/', 'embeddings'],
    ['anthropic', 'https://x.example/v1/messages', 'messages'],
  ])('warns about an endpoint of %s that includes the path of an operation: %s', async (protocol, endpoint, name) => {
    const [warning = ''] = await checkValue({
      models: { m: { upstreams: [{ protocol, endpoint }] } },
      keys: { k: { project: 'p' } },
    });
    expect(warning).toBe(
      `warning: parley.json: models.m.upstreams[0].endpoint: ends in /${name}, which Parley appends on each call, so most upstreams return 404. Write the address without /${name}, such as https://api.example/v1`,
    );
  });

  it('accepts the full path in the endpoint of an adapter and in the name of an Azure deployment', async () => {
    const fullUrl = 'http://a.example/openai/deployments/x/chat/completions';
    const lines = await checkValue({
      models: {
        adapted: { endpoint: fullUrl, upstreams: [{ protocol: 'dial', endpoint: fullUrl }] },
        named: {
          upstreams: [
            { protocol: 'azure', endpoint: 'http://a.example/openai/deployments/embeddings', apiVersion: '2024-10-21' },
          ],
        },
      },
      applications: { app: { endpoint: fullUrl } },
      keys: { 'a-key-of-enough-length': { project: 'p' } },
    });
    expect(lines).toEqual([expect.stringContaining('no errors')]);
  });

  it.each([
    [{ consent: { directCalls: 'zz' } }, 'consent.directCalls'],
    [{ modelz: 1 }, 'modelz'],
    [{ alerts: [{ of: 5 }] }, 'alerts[0]'],
    [{ roles: { r: { limits: 5 } } }, 'roles.r.limits'],
  ])('names missing deployments next to the errors of %j', async (fields, path) => {
    const lines = await checkValue({ models: { m: { ...demo, dependencies: ['gone'] } }, ...fields });
    expect(lines[0]).toContain(path);
    expect(lines.at(-1)).toBe(
      'warning: parley.json: models.m.dependencies[0]: names "gone", a deployment that is not configured',
    );
  });

  it('does not report a role as unknown if its entry is invalid', async () => {
    const lines = await checkValue({ models: { m: { ...demo, userRoles: ['r'] } }, roles: { r: { limits: 5 } } });
    expect(lines).toEqual([expect.stringContaining('roles.r.limits')]);
  });

  it('prints a summary of a valid configuration after its warnings', async () => {
    const value = {
      models: {
        m: { ...demo, dependencies: ['n', 'applications/b/x'] },
        z: { upstreams: [{ protocol: 'azure', endpoint: 'http://x' }] },
      },
      roles: { r: { limits: { m: {}, '*': {}, mm: { day: 1 } } } },
      addin: { models: [{ id: 'gone', display_name: 'Gone' }] },
      identityProviders: { p: { issuer: 'https://x', jwksUrl: 'https://x/keys' } },
    };
    expect(await checkValue(value)).toEqual([
      'warning: parley.json: models.m.dependencies[0]: names "n", a deployment that is not configured',
      'warning: parley.json: roles.r.limits.mm: names "mm", a deployment that is not configured',
      'warning: parley.json: addin.models[0].id: names "gone", a deployment that is not configured',
      'warning: parley.json: identityProviders.p.audience: is missing, so Parley also accepts tokens that the issuer creates for other services',
      'warning: parley.json: models.z.upstreams[0].apiVersion: is missing, and most azure upstreams return 404 without it',
      'warning: parley.json: roles.r: is a role that no key or SCIM group has. Name it in a key or in scim.groups, or set rolesClaim of an identity provider',
      'parley.json: no errors (2 models, 0 applications, 0 addons, 0 keys, 1 role, 1 identity provider)',
    ]);
  });
});
