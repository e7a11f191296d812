// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService } from '#test/start-service.ts';
import { checkImported, fixture, loadImported, runImport } from './support.ts';

const core = await fixture('dial-core.json');
const importCore = () => runImport({ from: 'dial', files: { 'core.json': core } });
const importValue = (value: object) => runImport({ from: 'dial', files: { 'core.json': JSON.stringify(value) } });

describe('parley import dial', () => {
  it('converts all supported settings to a configuration that passes the check', async () => {
    const { exitCode, value, text } = await importCore();
    expect(exitCode).toBe(0);
    expect((await checkImported(text)).exitCode).toBe(0);
    expect(Object.keys(value.models ?? {})).toEqual(['chat-large', 'chat-self-hosted', 'draw', 'vectors']);
    expect(value).toMatchObject({
      models: {
        'chat-large': {
          displayName: 'Large',
          userRoles: ['reader', 'librarian', 'default'],
          limits: { maxTotalTokens: 128000, maxPromptTokens: 120000, maxCompletionTokens: 8000 },
          pricing: { prompt: 0.000002, completion: 0.000008 },
        },
        vectors: { type: 'embedding' },
      },
      applications: {
        'book-finder': {
          endpoint: 'http://finder.example:5000/openai/deployments/book-finder/chat/completions',
          iconUrl: 'https://library.example/finder.svg',
          description: 'Finds books for $${reason}',
          features: { rateEndpoint: 'http://finder.example:5000/rate', systemPromptSupported: false },
          defaults: { temperature: 0.2, shelf: 'north' },
          dependencies: ['chat-large'],
        },
        helper: { applicationProperties: { model: 'chat-large', instructions: 'Be brief.' } },
      },
      addons: { 'opening-hours': { authorization: { type: 'bearer', token: '${OPENING_HOURS_TOKEN}' } } },
    });
  });

  it('reports each omitted or changed setting with file, line, path, and advice', async () => {
    const { lines } = await importCore();
    expect(lines).toEqual(
      expect.arrayContaining([
        'core.json:3: routes.catalogue: is not imported: Parley has no routes. Serve it with the proxy in front of Parley',
        'core.json:19: addons.fines: is left out: it is only for some roles, and addons are open to all users in Parley',
        'core.json:43: applications.code-app: is left out: it has no endpoint that Parley can call',
        expect.stringMatching(/^core\.json:66: models\.chat-large\.interceptors: is not imported: .*\. Remove the deployment/),
        'core.json:72: models.draw.pricing: is not imported: Parley has prices for tokens, not for characters. Set USD per token',
        'core.json:76: models.old-completions: is left out: Parley serves only models of the types chat and embedding',
        'core.json:97: roles.default.costLimit.minute: is not imported: Parley limits costs per day, week, and month',
      ]),
    );
    expect(lines.filter((line) => !/^core\.json:\d+: \S+: /.test(line))).toEqual([]);
    expect(lines.join()).not.toMatch(/rateLimitSchedule|globalInterceptors|secured|forwardAuthToken/);
  });

  it('requires consent to direct calls if an application requires consent', async () => {
    const endpoint = 'http://finder.example/chat/completions';
    const withConsent = { applications: { finder: { endpoint, features: { consentRequired: true } } } };
    const { value, text, lines } = await importValue(withConsent);
    expect(value).toMatchObject({
      consent: { directCalls: 'require' },
      applications: { finder: { features: { consentRequired: true } } },
    });
    expect((await checkImported(text)).exitCode).toBe(0);
    expect(lines.filter((line) => line.includes('consentRequired'))).toEqual([
      'core.json:1: applications.finder.features.consentRequired: also applies to direct calls of users, as in DIAL, so the result sets `consent.directCalls` to `require`',
    ]);
    expect((await importValue({ applications: { finder: { endpoint } } })).value).not.toHaveProperty('consent');
  });

  it('keeps the parameter names of web API tools and replaces the secrets next to them', async () => {
    const id = { type: 'string', description: 'Id', parameter_info: { type: 'header', key: 'X-Session-Token' } };
    const parameters = { type: 'object', properties: { id } };
    const tool = {
      rest_api_method_info: { method_url: 'https://shop.example/a', method_type: 'get' },
      open_ai_tool: { type: 'function', function: { name: 'find', description: 'Finds', parameters } },
    };
    const authorization = { type: 'bearer', token: 'plain-secret-value' };
    const toolset = { type: 'rest-api', name: 'Shop', authorization, tools: [tool] };
    const applicationTypeSchemaId = 'https://mydial.epam.com/custom_application_schemas/quickapps';
    const properties = { model: 'm', instructions: 'Help.', temperature: 0, web_api_toolset: [toolset] };
    const { text, lines } = await importValue({
      models: { m: { endpoint: 'http://adapter.example/chat/completions' } },
      applications: { a: { applicationTypeSchemaId, applicationProperties: properties } },
    });
    expect(JSON.parse(text).applications.a.applicationProperties.web_api_toolset).toEqual([
      { ...toolset, authorization: { type: 'bearer', token: '${A_TOKEN}' } },
    ]);
    expect(lines.join()).not.toContain('parameter_info');
  });

  it('reports that Parley calls an application with a Responses endpoint through chat completions', async () => {
    const endpoint = 'http://finder.example/chat/completions';
    const { lines } = await importValue({
      applications: { a: { endpoint, responsesEndpoint: 'http://finder.example/responses' } },
    });
    const message = 'is not imported: Parley serves the Responses API through chat completions';
    expect(lines).toEqual([expect.stringContaining(`applications.a.responsesEndpoint: ${message}`)]);
  });
});

describe('roles of DIAL', () => {
  it('include the limits that they inherit from the role default in DIAL', async () => {
    const { value } = await importCore();
    const { roles } = value as unknown as { roles: Record<string, unknown> };
    expect(roles.librarian).toEqual({
      limits: { 'chat-large': { minute: 50000 }, vectors: { requestHour: 60 } },
      costLimit: { day: 2.5 },
    });
    expect(roles.reader).toEqual(roles.default);
    expect(roles.guest).toEqual({ limits: { 'chat-large': { minute: 0 }, vectors: {} }, costLimit: { month: 1 } });
  });

  it('lose their limits of applications, because DIAL does not enforce them', async () => {
    const { value, lines } = await importCore();
    expect(JSON.stringify(value.roles)).not.toMatch(/book-finder|opening-hours/);
    expect(lines).toContainEqual(
      expect.stringMatching(/^core\.json:95: roles\.default\.limits\.book-finder: is left out: .*DIAL limits only models/),
    );
    expect(lines.join()).not.toContain('limits.opening-hours');
  });

  it('are reported if their combination allows more than in DIAL', async () => {
    const { lines } = await importCore();
    expect(lines).toContainEqual(
      expect.stringMatching(/^core\.json:100: roles\.reader: is more generous than in DIAL for chat-large: /),
    );
    expect(lines.join()).not.toMatch(/roles\.(librarian|guest|default): is more generous/);
  });
});

describe('keys of DIAL', () => {
  it('continue to work as digests', async () => {
    await using upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
    const { text } = await runImport({
      from: 'dial',
      files: { 'core.json': await fixture('dial-core.json', { SELF: upstream.url }) },
    });
    await using service = await startService(await loadImported(text));
    const answers = await Promise.all(
      ['desk-key-9d1f0c62a4b8', 'abc', 'no-role-key-0123456789', 'office-key-55e0d1f2a3', 'Front desk'].map((key) =>
        service.chat('chat-self-hosted', { messages: hello }, { 'Api-Key': key, 'content-type': 'application/json' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 403, 401]);
    expect(upstream.requests.map(({ path, body }) => [path, body.model])).toEqual([
      ['/v1/chat/completions', 'chat-self-hosted'],
      ['/v1/chat/completions', 'chat-self-hosted'],
    ]);
  });

  it('without a role are omitted and reported without the key', async () => {
    const { lines, value } = await importCore();
    expect(Object.keys(value.keys ?? {})).toEqual(['Front desk', 'Front desk-2', 'Kiosk', 'Office']);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^core\.json:81: keys\["\*\*\*#3"\]: is so short that it can be guessed from its digest\. Use a longer key$/,
        ),
        expect.stringMatching(/^core\.json:82: keys\["\*\*\*#4"\]: is left out: it has no role/),
      ]),
    );
    expect(lines.join('\n')).not.toContain('***#5');
  });

  it('with allowed addresses are restricted to these addresses', async () => {
    await using upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
    const { text } = await runImport({
      from: 'dial',
      files: { 'core.json': await fixture('dial-core.json', { SELF: upstream.url }) },
    });
    const configuration = await loadImported(text);
    expect(configuration).toMatchObject({ keys: { Office: { allowedIps: ['10.0.0.0/8'] } } });
    await using service = await startService({ ...configuration, security: { trustedProxies: ['127.0.0.1'] } });
    const chatFrom = async (address: string) => {
      const headers = { 'Api-Key': 'office-key-55e0d1f2a3', 'content-type': 'application/json', 'x-forwarded-for': address };
      const { status, error } = await service.chat('chat-self-hosted', { messages: hello }, headers);
      return [status, status === 200 ? undefined : error.code];
    };
    expect(await chatFrom('10.1.2.3')).toEqual([200, undefined]);
    expect(await chatFrom('192.0.2.7')).toEqual([403, 'address_not_allowed']);
  });

  it.each([['10.0.0.0/8'], [['10.0.0.0/99']], [[{ from: '10.0.0.1' }]]])(
    'with invalid addresses are omitted: %j',
    async (ranges) => {
      const keys = { 'a-key-of-today-012345': { project: 'new', role: 'default', allowedIpAddressRanges: ranges } };
      const { value, lines } = await importValue({ keys });
      expect(value.keys ?? {}).toEqual({});
      expect(lines.join('\n')).toContain('is left out: its allowedIpAddressRanges must be a list of addresses or networks');
    },
  );
});

describe('key of DIAL with an expiry', () => {
  it.each([4_102_444_800_000, '4102444800000', '2100-01-01T00:00:00Z'])('keeps the expiry: %s', async (expiresAt) => {
    const keys = { 'a-key-of-today-012345': { project: 'new', role: 'default', expiresAt } };
    const { value, lines } = await importValue({ keys });
    expect(value.keys).toMatchObject({ new: { expiresAt: '2100-01-01T00:00:00.000Z' } });
    expect(lines.join('\n')).not.toContain('expiresAt');
  });

  it('does not expire if the time is after the year 9999', async () => {
    const key = { project: 'new', role: 'default' };
    const { value } = await importValue({ keys: { 'a-key-of-today-012345': { ...key, expiresAt: Number.MAX_VALUE } } });
    expect(Object.keys(value.keys ?? {})).toEqual(['new']);
    expect(JSON.stringify(value.keys)).not.toContain('expiresAt');
  });

  it('is omitted if the time is invalid', async () => {
    const keys = { 'a-key-of-today-012345': { project: 'new', role: 'default', expiresAt: 'next year' } };
    const { value, lines } = await importValue({ keys });
    expect(value.keys ?? {}).toEqual({});
    expect(lines.join('\n')).toContain('is left out: its expiresAt is not a date or a number of milliseconds');
  });
});

describe('expired key of DIAL', () => {
  it.each([1_577_836_800_000, '2020-01-01T00:00:00Z'])('is omitted: %s', async (expiresAt) => {
    const keys = {
      'a-key-of-long-ago-0123': { project: 'old', role: 'default', expiresAt },
      'a-key-of-today-012345': { project: 'new', role: 'default' },
    };
    const { text, lines } = await runImport({ from: 'dial', files: { 'core.json': JSON.stringify({ keys }) } });
    expect(Object.keys((JSON.parse(text) as { keys: object }).keys)).toEqual(['new']);
    expect(lines.join('\n')).toMatch(/is left out: it has expired/);
  });
});

describe('adapter of DIAL', () => {
  it('receives the endpoint and the key of its upstream', async () => {
    await using adapter = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
    const { text } = await runImport({
      from: 'dial',
      files: { 'core.json': await fixture('dial-core.json', { ADAPTER: adapter.url }) },
    });
    await using service = await startService(await loadImported(text));
    const { status } = await service.chat(
      'chat-large',
      { messages: hello },
      { 'Api-Key': 'desk-key-9d1f0c62a4b8', 'content-type': 'application/json' },
    );
    expect(status).toBe(200);
    const { path, headers } = await adapter.request(0);
    expect(path).toMatch(/^\/openai\/deployments\/large\/chat\/completions/);
    expect(headers).toMatchObject({
      'x-upstream-endpoint': 'https://one.vendor.example/chat/completions',
      'x-upstream-key': 'value-of-chat-large-key',
    });
    expect(JSON.stringify(headers)).not.toContain('desk-key');
  });
});

describe('several files of DIAL', () => {
  it('are merged as in DIAL: objects by key, and lists concatenated unless overwriteArrays is set', async () => {
    const files = { 'core.json': core, 'overlay.json': await fixture('dial-overlay.json') };
    const joined = await runImport({ from: 'dial', files });
    expect(joined.value).toMatchObject({ models: { 'chat-large': { displayName: 'Large, renewed', displayVersion: '2' } } });
    expect(joined.text.match(/(one|two|three)\.vendor\.example\/chat/g)).toHaveLength(3);
    expect(joined.text).toContain('${THIRD_VENDOR_KEY}');
    expect(joined.lines).toContainEqual(
      expect.stringMatching(/^core\.json:57: models\.chat-large\.upstreams\[1\]\.key: is a secret/),
    );
    const settings = JSON.stringify({ config: { jsonMergeStrategy: { overwriteArrays: true } } });
    const replaced = await runImport({ from: 'dial', files, settings });
    expect(replaced.text.match(/(one|two|three)\.vendor\.example\/chat/g)).toEqual(['three.vendor.example/chat']);
  });
});

describe('settings file of DIAL', () => {
  const importSettings = async () =>
    runImport({ from: 'dial', files: { 'core.json': core }, settings: await fixture('dial-settings.json') });

  it('provides the identity providers whose tokens can be verified', async () => {
    const { value, text } = await importSettings();
    expect((await checkImported(text)).exitCode).toBe(0);
    expect(value.identityProviders).toEqual({
      staff: {
        issuer: 'https://id.library.example/realms/staff',
        jwksUrl: 'https://id.library.example/realms/staff/protocol/openid-connect/certs',
        audience: 'library',
        userIdClaim: 'preferred_username',
        rolesClaim: 'resource_access.library.roles',
      },
      readers: {
        issuer: 'https://readers.eu.auth0.com/',
        jwksUrl: 'https://readers.eu.auth0.com/.well-known/jwks.json',
        rolesClaim: 'library_roles',
      },
    });
  });

  it('is reported for each value that is guessed, omitted, or configured elsewhere', async () => {
    const { lines } = await importSettings();
    expect(lines.filter((line) => line.startsWith('settings.json'))).toEqual([
      expect.stringMatching(/^settings\.json:3: redis: is not imported: set PARLEY_REDIS_URL/),
      expect.stringMatching(/^settings\.json:16: identityProviders\.readers\.issuerPattern: is a pattern, .* guessed/),
      expect.stringMatching(/^settings\.json:19: identityProviders\.opaque: is left out: its tokens are opaque/),
      expect.stringMatching(/^settings\.json:20: identityProviders\.trusting: is left out: its tokens are not verified/),
      expect.stringMatching(/^settings\.json:22: storage: is not imported/),
      expect.stringMatching(/^settings\.json:23: encryption: is not imported/),
    ]);
  });
});

describe('setting that DIAL also rejects', () => {
  it('is reported with its location and does not affect other settings', async () => {
    const upstreams = { endpoint: 'http://x/v1/chat/completions' };
    const { lines, value, text } = await importValue({
      modles: { m: {} },
      models: {
        good: { ...upstreams, displayNme: 'x', pricing: { prompt: 'cheap', completion: '1' }, maxInputAttachments: -1 },
        misspelt: { endpont: 'http://x/v1/chat/completions' },
        'a//b': upstreams,
        closed: { ...upstreams, userRoles: 'staff' },
      },
    });
    expect((await checkImported(text)).exitCode).toBe(0);
    expect(value.models).toMatchObject({ good: { pricing: { completion: 1 } }, closed: { userRoles: [] } });
    expect(Object.keys(value.models ?? {})).toEqual(['good', 'closed']);
    expect(lines).toEqual(
      expect.arrayContaining([
        'core.json:1: modles: is not imported: it is not a known key of DIAL. Did you mean models?',
        'core.json:1: models.good.displayNme: is not imported: it is not a known key of a model of DIAL. Did you mean displayName?',
        'core.json:1: models.good.pricing.prompt: is left out: it must be a number',
        'core.json:1: models.good.maxInputAttachments: is not imported: it must be 0 or more',
        'core.json:1: models.misspelt: is left out: it has no endpoint that Parley can call. Did you mean endpoint by endpont?',
        expect.stringContaining('core.json:1: models["a//b"]: is not imported: it is not a valid ID'),
        'core.json:1: models.closed.userRoles: is not a list of strings, so the deployment is closed to all users',
      ]),
    );
  });
});

it('parley import dial treats names of object properties as ordinary names', async () => {
  const files = {
    'core.json': `{"models": {"__proto__": {"endpoint": "http://x/v1/chat/completions", "constructor": 1, "toString": 2}}}`,
    'other.json': '{"models": {"constructor": {"endpoint": "http://x/v1/chat/completions"}}, "__proto__": {"polluted": true}}',
  };
  const { text, lines } = await runImport({ from: 'dial', files });
  expect(text).toMatch(/"__proto__": \{\n *"upstreams"[\s\S]+"constructor": \{\n *"upstreams"/);
  expect(lines).toEqual([
    'core.json:1: models.__proto__.constructor: is not imported: it is not a known key of a model of DIAL',
    'core.json:1: models.__proto__.toString: is not imported: it is not a known key of a model of DIAL',
    'other.json:1: __proto__: is not imported: it is not a known key of DIAL',
  ]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
