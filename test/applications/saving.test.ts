import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { type AuditEvent, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp, remove, save, show } from './support.ts';

const audited: AuditEvent[] = [];
let service: TestService;

beforeAll(async () => {
  service = await startService(
    {
      models: { demo: { upstreams: [{ protocol: 'demo' }] }, vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }] } },
    },
    { recordAudit: (event) => audited.push(event) },
  );
});

afterAll(() => service.close());

interface StoredApplication {
  readonly id: string;
  readonly etag: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

describe('a saved application', () => {
  it('is returned with its ID, ETag, and times, and can be called', async () => {
    const app = quickApp({ starters: ['Hi'] }, { displayName: 'Kind' });
    const created = await save(service, getApplicationPath('kind'), app);
    const { id, etag, createdAt, updatedAt, ...rest } = created.json as StoredApplication;
    expect([created.status, created.headers.etag, rest]).toEqual([201, `"${etag}"`, app]);
    expect([id, createdAt]).toEqual([`applications/${ownBucket}/kind`, updatedAt]);
    const loaded = await show(service, getApplicationPath('kind'));
    expect([loaded.status, loaded.headers.etag, loaded.json]).toEqual([200, `"${etag}"`, created.json]);
    const answer = await service.chat(id, { messages: hello });
    expect([answer.status, answer.completion.choices[0]?.finish_reason]).toEqual([200, 'stop']);
  });

  it('accepts field names in snake case, but not both forms of one field', async () => {
    const { applicationTypeSchemaId, applicationProperties } = quickApp() as Record<string, unknown>;
    const common = { display_name: 'Kind', input_attachment_types: ['image/*'], features: { seed_supported: true } };
    const app = { ...common, application_type_schema_id: applicationTypeSchemaId, application_properties: applicationProperties };
    const { status, json } = await save(service, getApplicationPath('snake'), app);
    expect(status).toBe(201);
    expect(json).toMatchObject({ displayName: 'Kind', inputAttachmentTypes: ['image/*'], applicationTypeSchemaId });
    expect((json as { features: object }).features).toMatchObject({ seedSupported: true });
    const rejected = await save(service, getApplicationPath('twice'), { ...quickApp(), display_name: 'a', displayName: 'b' });
    expect([rejected.status, rejected.error.param]).toEqual([400, 'display_name']);
  });

  it('does not store optional fields that are null', async () => {
    const nullSettings = {
      ...{ starters: null, applications_as_tools: null, client_toolset: null, web_api_toolset: null, mcp_toolset: null },
      document_relative_url: null,
    };
    const app = quickApp({ web_api_toolset_alternative: [{ type: 'rest-api', name: 'a', authorization: null, tools: [] }] });
    const nullFields = {
      ...{ endpoint: null, displayName: null, displayVersion: null, description: null, iconUrl: null, userRoles: null },
      ...{ inputAttachmentTypes: null, maxInputAttachments: null, features: null, defaults: null, dependencies: null },
      maxRetryAttempts: null,
    };
    const { applicationProperties: settings } = app as { applicationProperties: object };
    const body = { ...app, ...nullFields, applicationProperties: { ...settings, ...nullSettings } };
    const { status, json } = await save(service, getApplicationPath('nulls'), body);
    const { id, etag: _etag, createdAt: _created, updatedAt: _updated, ...storedFields } = json as StoredApplication;
    expect([status, storedFields]).toEqual([201, app]);
    expect((await service.chat(id, { messages: hello })).status).toBe(200);
    const invalid = quickApp({ instructions: null }, { defaults: { stop: null } });
    expect((await save(service, getApplicationPath('odd'), invalid)).error.param).toBe('applicationProperties.instructions');
  });

  it('has another ETag after each change, and retains its creation time', async () => {
    const first = (await save(service, getApplicationPath('changed'), quickApp())).json as StoredApplication;
    const changed = await save(service, getApplicationPath('changed'), quickApp({ temperature: 1 }));
    const second = changed.json as StoredApplication;
    expect([changed.status, second.createdAt]).toEqual([200, first.createdAt]);
    expect(second.updatedAt).toBeGreaterThanOrEqual(first.updatedAt);
    expect(second.etag).not.toBe(first.etag);
  });

  it('can be saved again with the returned fields', async () => {
    const app = quickApp({}, { displayName: 'Again' });
    const created = await save(service, getApplicationPath('again'), app);
    const repeated = await save(service, getApplicationPath('again'), created.json);
    expect([repeated.status, repeated.json]).toMatchObject([200, app]);
  });

  it('does not exist after it is deleted', async () => {
    await save(service, getApplicationPath('gone'), quickApp());
    expect((await remove(service, getApplicationPath('gone'))).status).toBe(204);
    expect((await remove(service, getApplicationPath('gone'))).error.code).toBe('deployment_not_found');
    expect((await show(service, getApplicationPath('gone'))).error.code).toBe('deployment_not_found');
    expect((await service.chat(`applications/${ownBucket}/gone`, { messages: hello })).status).toBe(404);
  });

  it('is recorded in the audit log when it is saved and deleted', async () => {
    audited.length = 0;
    await save(service, getApplicationPath('noted'), quickApp());
    await save(service, getApplicationPath('noted'), { ...quickApp(), nonsense: true });
    await remove(service, getApplicationPath('noted'));
    const common = { subject: 'key:test', object: `applications/${ownBucket}/noted`, requestId: expect.any(String) };
    expect(audited).toEqual([
      { action: 'application.saved', ...common },
      { action: 'application.deleted', ...common },
    ]);
  });

  it('can have a path with several segments, and its ID retains the encoding', async () => {
    await save(service, getApplicationPath('team%2Fa%20b/c%25'), quickApp());
    const { id } = (await show(service, getApplicationPath('team/a%20b/c%25'))).json as StoredApplication;
    expect(id).toBe(`applications/${ownBucket}/team%2Fa%20b/c%25`);
  });

  it.each([
    ...['..', '%2e%2e/x', 'a//b', 'a/', 'a%00'].map((name) => [name, name]),
    ['a path of too many characters', 'x'.repeat(1024)],
    ['a path of too many bytes', '%F0%9F%99%82'.repeat(400)],
  ])('cannot have the path: %s', async (_description, name) => {
    const answer = await save(service, getApplicationPath(name), quickApp());
    expect([answer.status, answer.error.code]).toEqual([404, 'deployment_not_found']);
  });

  it('can be named __proto__', async () => {
    expect((await save(service, getApplicationPath('__proto__'), quickApp())).status).toBe(201);
    expect((await show(service, getApplicationPath('constructor'))).status).toBe(404);
  });

  it.each(['features', 'defaults', 'applicationProperties'])('cannot have the key __proto__ in its %s', async (field) => {
    const body = JSON.stringify({ ...quickApp(), [field]: { odd: 1 } }).replace('"odd"', '"__proto__"');
    const { status, error } = await save(service, getApplicationPath('odd'), body);
    expect([status, error.code]).toEqual([400, 'invalid_json']);
  });
});

describe('a conditional request', () => {
  it('with If-None-Match: * creates and never changes an application', async () => {
    const ifAbsent = { 'if-none-match': '*' };
    expect((await save(service, getApplicationPath('once'), quickApp(), ifAbsent)).status).toBe(201);
    const repeated = await save(service, getApplicationPath('once'), quickApp({ temperature: 1 }), ifAbsent);
    expect([repeated.status, repeated.error.code]).toEqual([412, 'precondition_failed']);
    expect((await show(service, getApplicationPath('once'))).json).toMatchObject(quickApp());
  });

  it('with If-Match changes and deletes only the version that it names', async () => {
    const first = (await save(service, getApplicationPath('matched'), quickApp())).headers.etag as string;
    const ifFirst = { 'if-match': first };
    expect((await save(service, getApplicationPath('matched'), quickApp({ temperature: 1 }), ifFirst)).status).toBe(200);
    expect((await save(service, getApplicationPath('matched'), quickApp(), ifFirst)).status).toBe(412);
    expect((await remove(service, getApplicationPath('matched'), ifFirst)).status).toBe(412);
    expect((await save(service, getApplicationPath('never'), quickApp(), ifFirst)).status).toBe(412);
    expect((await remove(service, getApplicationPath('matched'), { 'if-match': '*' })).status).toBe(204);
  });

  it('with If-Match admits only the first of concurrent writers', async () => {
    const { headers } = await save(service, getApplicationPath('raced'), quickApp());
    const ifMatch = { 'if-match': headers.etag as string };
    const responses = await Promise.all(
      [0, 0.5, 1].map((temperature) => save(service, getApplicationPath('raced'), quickApp({ temperature }), ifMatch)),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  });

  it('with If-None-Match returns 304 for an unchanged application', async () => {
    const { headers } = await save(service, getApplicationPath('known'), quickApp());
    const notModified = await show(service, getApplicationPath('known'), undefined, { 'if-none-match': headers.etag as string });
    expect([notModified.status, notModified.text]).toEqual([304, '']);
  });
});

describe('a secret', () => {
  const createMcpApp = (token: string) =>
    quickApp({
      mcp_toolset: [
        {
          type: 'mcp',
          name: 'a',
          mcp_server_info: { url: 'https://mcp.example/', protocol: 'sse', authorization: { type: 'bearer', token } },
        },
      ],
    });

  it('is never returned, and is retained if the client sends back its mask', async () => {
    const created = await save(service, getApplicationPath('secret'), createMcpApp('canary-1'));
    expect(created.json).toMatchObject(createMcpApp('***'));
    const updated = await save(service, getApplicationPath('secret'), { ...createMcpApp('***'), displayName: 'Kept' });
    const responses = [
      created,
      updated,
      await show(service, getApplicationPath('secret')),
      await show(service, getApplicationPath('')),
    ];
    for (const { status, text } of responses) {
      expect(status).toBeLessThan(300);
      expect(text).not.toContain('canary');
    }
  });

  it('is required if no secret is stored', async () => {
    const { error, status } = await save(service, getApplicationPath('unknown'), createMcpApp('***'));
    expect([status, error.param]).toEqual([400, 'applicationProperties.mcp_toolset[0].mcp_server_info.authorization.token']);
  });

  it('is not part of an error', async () => {
    const { text } = await save(service, getApplicationPath('secret'), { ...createMcpApp('canary-2\n'), nonsense: 'canary-3' });
    expect(text).not.toContain('canary');
  });
});

const property = 'applicationProperties';
const invalidBodies: readonly (readonly [description: string, body: unknown, param: string | null])[] = [
  ['an array instead of an object', [], null],
  ['no fields', {}, 'endpoint'],
  ['an unknown key', { ...quickApp(), displayname: 'x' }, 'displayname'],
  ['a field with a wrong type', quickApp({}, { displayName: 1 }), 'displayName'],
  ['a misspelled feature', quickApp({}, { features: { consentrequired: true } }), 'features.consentrequired'],
  [
    'a misspelled feature of an endpoint',
    { endpoint: 'https://a.example', features: { consentRequird: true } },
    'features.consentRequird',
  ],
  [
    'settings without a type next to an endpoint',
    { endpoint: 'https://app.example/', applicationProperties: {} },
    'applicationTypeSchemaId',
  ],
  [
    'a private address of a feature',
    { endpoint: 'https://app.example/', features: { rateEndpoint: 'http://10.0.0.1/' } },
    'features.rateEndpoint',
  ],
  ['a request for the tokens of its callers', { endpoint: 'https://app.example/', forwardAuthToken: true }, 'forwardAuthToken'],
  ['an invalid endpoint', { endpoint: 'ftp://app.example/' }, 'endpoint'],
  ['a private endpoint', { endpoint: 'http://127.0.0.1:1/' }, 'endpoint'],
  ['a private endpoint with an unusual notation', { endpoint: 'http://0x7f.1/' }, 'endpoint'],
  ['a metadata endpoint', { endpoint: 'http://169.254.169.254/latest' }, 'endpoint'],
  ['credentials in an endpoint', { endpoint: 'https://user:pass@app.example/' }, 'endpoint'],
  ['an unknown model', quickApp({ model: 'demos' }), `${property}.model`],
  ['an embedding model', quickApp({ model: 'vectors' }), `${property}.model`],
  ['a missing application as its model', quickApp({ model: 'applications/x/y' }), `${property}.model`],
  ['a temperature above 1', quickApp({ temperature: 1.1 }), `${property}.temperature`],
  ['a document of another user', quickApp({ document_relative_url: 'files/other/a.txt' }), `${property}.document_relative_url`],
  [
    'the document of another user in a list',
    quickApp({ document_relative_url: [`files/${ownBucket}/a.txt`, `files/${ownBucket}/../other/a.txt`] }),
    `${property}.document_relative_url[1]`,
  ],
];

describe('an application that cannot be saved', () => {
  it.each(invalidBodies)('is rejected with the path of the error if it has %s', async (_description, body, param) => {
    const { status, error } = await save(service, getApplicationPath('faulty'), body);
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
    expect((await show(service, getApplicationPath('faulty'))).status).toBe(404);
  });

  it('is rejected with all errors and suggestions', async () => {
    const { error } = await save(
      service,
      getApplicationPath('faulty'),
      quickApp({ model: 'demos', temperature: 2 }, { iconurl: 'x' }),
    );
    expect(error.message).toBe(
      'iconurl is not a known key (did you mean iconUrl?); applicationProperties.temperature must be 1 or less; ' +
        'applicationProperties.model names "demos", a deployment that is not configured (did you mean demo?).',
    );
  });

  it('is rejected with a suggestion for a misspelled feature', async () => {
    const { error } = await save(
      service,
      getApplicationPath('faulty'),
      quickApp({}, { features: { consentRequird: true, rate: true } }),
    );
    expect(error.message).toBe('features.consentRequird is not a known key (did you mean consentRequired?).');
  });

  it('is rejected with the first five of many errors', async () => {
    const unknownFields = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`key${index}`, 1]));
    const { error } = await save(service, getApplicationPath('faulty'), { ...quickApp(), ...unknownFields });
    expect(error.message).toMatch(/^key0 .*key4 is not a known key; and 4 more\.$/);
  });

  it('is rejected with a short message for long keys', async () => {
    const { status, text } = await save(service, getApplicationPath('faulty'), { ...quickApp(), ['x'.repeat(100_000)]: 1 });
    expect([status, text.length < 1000]).toEqual([400, true]);
  });

  it('is rejected if it is not JSON, has another media type, or is too large', async () => {
    expect((await save(service, getApplicationPath('faulty'), '{')).error.code).toBe('invalid_json');
    expect((await save(service, getApplicationPath('faulty'), quickApp(), { 'content-type': 'text/plain' })).status).toBe(415);
    const large = quickApp({ instructions: 'x'.repeat(600_000) });
    expect((await save(service, getApplicationPath('faulty'), large)).error.code).toBe('payload_too_large');
  });

  it('is rejected if the user already has 200 applications', async () => {
    await using ownService = await startService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
    for (let index = 0; index < 200; index += 1)
      expect((await save(ownService, getApplicationPath(`n${index}`), quickApp())).status).toBe(201);
    expect((await save(ownService, getApplicationPath('more'), quickApp())).error.code).toBe('payload_too_large');
    expect((await save(ownService, getApplicationPath('n0'), quickApp())).status).toBe(200);
  });

  it('is rejected with 405 if the method is POST', async () => {
    const answer = await service.sendRequest({
      method: 'POST',
      path: getApplicationPath('x'),
      headers: withKey(),
      body: quickApp(),
    });
    expect([answer.status, answer.headers.allow]).toEqual([405, expect.stringContaining('PUT')]);
  });
});
