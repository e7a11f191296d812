import fastifySwagger from '@fastify/swagger';
import Fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Caches } from '#base/cache/bounded-cache.ts';
import { type Clock, systemClock } from '#base/time/clock.ts';
import { type LoadedTools, ToolError } from '#domain/tools/tool.ts';
import { createGuardedClient, createTokenCache, neverAborted, startServer } from '#test/rest-tools.ts';
import { answers, calls, scriptedModel } from '#test/scripted-model.ts';
import { defaultToolSettings } from '#test/tool-settings.ts';
import { OpenApiReader, type OwnedDocument } from '#tools/openapi/load-openapi.ts';
import type { DocumentOutcome } from '#tools/openapi/read-document.ts';
import { type Addons, AddonTools, findAddons } from './addons.ts';
import { runLoop } from './loop.ts';
import type { LoopOptions } from './loop-options.ts';

const ann = { signal: neverAborted, subject: 'ann' };
const limits = { connectMs: 60_000, timeoutMs: 60_000, maxResultBytes: 40_000 };

function run(options: Pick<LoopOptions, 'sendRequest' | 'tools'> & Partial<LoopOptions>) {
  const request = { messages: [{ role: 'user' as const, content: 'Hello' }] };
  return runLoop({ request, model: 'm', id: 'r', clock: systemClock, signal: neverAborted, ...defaultToolSettings, ...options });
}

const configured = { security: { addonUrls: 'configured' } } as const;
const guarded = { security: { addonUrls: 'guarded' } } as const;

function addonTools(
  clock: Clock = systemClock,
  allowed?: readonly string[],
  timeoutMs = limits.timeoutMs,
  reader = new OpenApiReader(),
) {
  const caches = new Caches();
  return new AddonTools({
    http: createGuardedClient(allowed),
    tokens: createTokenCache(),
    clock,
    caches,
    limits: { ...limits, timeoutMs },
    reader,
  });
}

/** Starts a server that serves its own OpenAPI document and requires a key. */
async function startWeather() {
  const app = Fastify();
  const requests: unknown[] = [];
  await app.register(fastifySwagger, { openapi: { info: { title: 'Weather', version: '1' } } });
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.startsWith('/v1') && request.headers['x-key'] !== 'weather-key')
      return reply.code(401).send('a key is missing');
  });
  const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
  const units = { type: 'object', properties: { units: { type: 'string', enum: ['c', 'f'] } } } as const;
  app.get(
    '/v1/weather/:city',
    { schema: { operationId: 'getWeather', description: 'Weather of a city.', params: city, querystring: units } },
    async (request) => {
      requests.push([request.params, request.query]);
      return { sky: 'rain' };
    },
  );
  const report = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;
  app.post('/v1/reports', { schema: { operationId: 'addReport', body: report } }, async (request) => {
    requests.push(request.body);
    return { saved: true };
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  app.get('/.well-known/ai-plugin.json', { schema: { hide: true } }, async () => ({
    name_for_model: 'weather',
    api: { type: 'openapi', url: '/openapi.json' },
  }));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  return { url, requests };
}

async function runWith(sendRequest: ReturnType<typeof scriptedModel>['sendRequest'], { tools, missing }: LoadedTools) {
  const stages: unknown[] = [];
  let content = '';
  for await (const frame of run({ sendRequest, tools, missing })) {
    for (const { delta } of frame.chunks.flatMap(({ choices }) => choices)) {
      content += delta.content ?? '';
      for (const { name, status } of delta.custom_content?.stages ?? []) stages.push(name ?? status);
    }
  }
  return { content, stages };
}

describe('AddonTools', () => {
  it.each(['/openapi.json', '/.well-known/ai-plugin.json'])('loads the document at %s and runs its operations', async (path) => {
    const weather = await startWeather();
    const authorization = { type: 'api_key', key: 'weather-key', name: 'X-Key', location: 'header' } as const;
    const addons: Addons = { weather: { url: weather.url + path, displayName: 'Weather', authorization } };
    const loaded = await addonTools().load(findAddons({ addons, ...configured }, [{ name: 'weather' }]), ann);
    const model = scriptedModel(
      calls(['getWeather', { city: '../Oslo?x=1', units: 'c' }], ['addReport', { text: 'wet', admin: true }]),
      answers('Wet.'),
    );
    expect(await runWith(model.sendRequest, loaded)).toEqual({
      content: 'Wet.',
      stages: ['getWeather', 'addReport', 'completed', 'completed'],
    });
    expect(weather.requests).toEqual([[{ city: '../Oslo?x=1' }, { units: 'c' }], { text: 'wet' }]);
    expect(model.requests[0]?.tools).toMatchObject([
      { function: { name: 'getWeather', description: 'Weather of a city.', parameters: { required: ['city'] } } },
      { function: { name: 'addReport', parameters: { properties: { text: { type: 'string' } }, required: ['text'] } } },
    ]);
    expect(model.requests[1]?.messages.slice(2).map(({ content }) => content)).toEqual(['{"sky":"rain"}', '{"saved":true}']);
    expect(JSON.stringify(model.requests)).not.toContain('weather-key');
  });

  it('returns an error response of the server to the model', async () => {
    const weather = await startWeather();
    const loaded = await addonTools().load(
      findAddons({ addons: { weather: { url: `${weather.url}/openapi.json` } }, ...configured }, [{ name: 'weather' }]),
      ann,
    );
    const model = scriptedModel(calls(['getWeather', { city: 'Oslo' }]), answers('Sorry.'));
    expect(await runWith(model.sendRequest, loaded)).toMatchObject({ stages: ['getWeather', 'failed'] });
    expect(model.requests[1]?.messages.at(-1)?.content).toBe('HTTP 401: a key is missing');
  });

  it('reports an addon that cannot be loaded as a failed stage and loads the rest', async () => {
    const weather = await startWeather();
    const addons: Addons = {
      weather: { url: `${weather.url}/openapi.json` },
      gone: { url: `${weather.url}/nothing`, displayName: 'Gone' },
      inside: { url: 'http://169.254.169.254/openapi.json' },
      page: { url: `${weather.url}/v1/weather/x` },
    };
    const found = findAddons({ addons, ...configured }, [
      { name: 'gone' },
      { name: 'weather' },
      { name: 'inside' },
      { name: 'page' },
    ]);
    const loaded = await addonTools().load(found, ann);
    expect(loaded.tools.map(({ name }) => name)).toEqual(['getWeather', 'addReport']);
    expect(loaded.missing).toEqual([
      { name: 'Gone', reason: 'The addon cannot be loaded: its server returned HTTP 404.' },
      {
        name: 'inside',
        reason: expect.stringContaining('169.254.169.254 is or resolves to a blocked address'),
      },
      { name: 'page', reason: 'The addon cannot be loaded: its server returned HTTP 401.' },
    ]);
    expect(await runWith(scriptedModel(answers('Hi.')).sendRequest, loaded)).toMatchObject({
      content: 'Hi.',
      stages: ['Gone', 'failed', 'inside', 'failed', 'page', 'failed'],
    });
  });

  it('reports an addon without a usable operation', async () => {
    const document = {
      openapi: '3.1.0',
      info: {},
      paths: { '/up': { post: { requestBody: { required: true, content: {} } } } },
    };
    const server = await startServer((_request, response) => response.end(JSON.stringify(document)));
    const { missing } = await addonTools().load(
      findAddons({ addons: { a: { url: server.url } }, ...configured }, [{ name: 'a' }]),
      ann,
    );
    expect(missing[0]?.reason).toBe(
      "The addon's document has no usable operation. For example, post_up was left out: its required body has no media type.",
    );
  });

  it('drops tools beyond the maximum and reports how many', async () => {
    const paths = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`/p${i}`, { get: {} }]));
    const server = await startServer((_request, response) => response.end(JSON.stringify({ openapi: '3.1.0', info: {}, paths })));
    const loaded = await addonTools().load(
      findAddons({ addons: { a: { url: server.url } }, ...configured }, [{ name: 'a' }]),
      ann,
    );
    expect(loaded.tools).toHaveLength(128);
    expect(loaded.missing).toEqual([
      { name: 'Addons', reason: 'A model supports at most 128 tools. 2 of 130 tools were left out.' },
    ]);
  });
});

describe('AddonTools, if the client disconnects', () => {
  it('cancels the call to the web API', async () => {
    const paths = { '/slow': { get: { operationId: 'slow' } } };
    const closed = Promise.withResolvers<boolean>();
    const disconnection = new AbortController();
    const server = await startServer((request, response) => {
      if (request.url !== '/slow') return response.end(JSON.stringify({ openapi: '3.1.0', info: {}, paths }));
      response.on('close', () => closed.resolve(response.writableFinished));
      return disconnection.abort(new Error('client disconnected'));
    });
    const { tools } = await addonTools().load(
      findAddons({ addons: { a: { url: server.url } }, ...configured }, [{ name: 'a' }]),
      ann,
    );
    const { sendRequest } = scriptedModel(calls(['slow', {}]));
    const frames = run({ sendRequest, tools, signal: disconnection.signal });
    const readAll = async () => {
      for await (const _frame of frames);
    };
    await expect(readAll()).rejects.toThrow('client disconnected');
    expect(await closed.promise).toBe(false);
  });
});

describe('AddonTools documents', () => {
  const document = JSON.stringify({ openapi: '3.1.0', info: {}, paths: { '/a': { get: {} } } });
  const findAddon = (url: string) => findAddons({ addons: { a: { url } }, ...configured }, [{ name: 'a' }]);

  it('fetches a document once for concurrent requests and caches it for five minutes', async () => {
    let nowMs = 0;
    const clock: Clock = { ...systemClock, nowMs: () => nowMs };
    const server = await startServer((_request, response) => setTimeout(() => response.end(document), 20));
    const tools = addonTools(clock);
    await Promise.all(Array.from({ length: 10 }, () => tools.load(findAddon(server.url), ann)));
    nowMs = 299_999;
    await tools.load(findAddon(server.url), ann);
    expect(server.seen).toHaveLength(1);
    nowMs = 300_001;
    expect((await tools.load(findAddon(server.url), ann)).tools).toHaveLength(1);
    expect(server.seen).toHaveLength(2);
  });

  it('are cached for each user who chose the address, and are loaded four at a time for one user', async () => {
    let loading = 0;
    let maxLoading = 0;
    const server = await startServer((_request, response) => {
      loading += 1;
      maxLoading = Math.max(maxLoading, loading);
      setTimeout(() => {
        loading -= 1;
        response.end(document);
      }, 20);
    });
    const owners: string[] = [];
    class ObservedReader extends OpenApiReader {
      override readDocument({ owner }: OwnedDocument): Promise<DocumentOutcome> {
        owners.push(owner);
        return Promise.reject(new ToolError('not read'));
      }
    }
    const tools = addonTools(systemClock, undefined, limits.timeoutMs, new ObservedReader());
    const rules = { addons: { a: { url: server.url } }, ...guarded };
    const urls = Array.from({ length: 32 }, (_, nth) => ({ url: `${server.url}?${nth}` }));
    const { missing } = await tools.load(findAddons(rules, urls), ann);
    expect(new Set(missing.map(({ reason }) => reason))).toEqual(new Set(['The addon cannot be loaded: not read.']));
    expect([missing.length, maxLoading]).toEqual([32, 4]);
    await tools.load(findAddons(rules, urls.slice(0, 1)), { ...ann, subject: 'bob' });
    await tools.load(findAddon(server.url), ann);
    expect(owners).toEqual([...Array(32).fill('ann'), 'bob', `addon ${server.url}`]);
  });

  it('retries a failed document after ten seconds', async () => {
    let nowMs = 0;
    const clock: Clock = { ...systemClock, nowMs: () => nowMs };
    let isUp = false;
    const server = await startServer((_request, response) => response.writeHead(isUp ? 200 : 503).end(document));
    const tools = addonTools(clock);
    expect((await tools.load(findAddon(server.url), ann)).missing).toHaveLength(1);
    isUp = true;
    nowMs = 9999;
    expect((await tools.load(findAddon(server.url), ann)).missing).toHaveLength(1);
    expect(server.seen).toHaveLength(1);
    nowMs = 10_001;
    expect((await tools.load(findAddon(server.url), ann)).missing).toHaveLength(0);
  });

  it('stops waiting for a document immediately if the client disconnects', async () => {
    const server = await startServer(() => undefined);
    const disconnection = new AbortController();
    setTimeout(() => disconnection.abort(new Error('client disconnected')), 20);
    // The server never answers. Without the signal, the load would end with a missing addon.
    await expect(addonTools().load(findAddon(server.url), { ...ann, signal: disconnection.signal })).rejects.toThrow(
      'client disconnected',
    );
  });

  it('reports a document that does not arrive in time', async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(200);
      const sendSlowly = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(sendSlowly));
    });
    const { missing } = await addonTools(systemClock, undefined, 300).load(findAddon(server.url), ann);
    expect(missing[0]?.reason).toBe('The addon cannot be loaded: the download took longer than 0.3 s.');
  });

  it('stops reading a document that is too large', async () => {
    const server = await startServer((_request, response) => response.end(Buffer.alloc(9 * 1024 * 1024, 32)));
    const { missing } = await addonTools().load(findAddon(server.url), ann);
    expect(missing[0]?.reason).toContain('larger than 8388608 bytes');
  });

  it('follows a redirect and resolves server URLs against the final address', async () => {
    const server = await startServer((request, response) =>
      request.url === '/'
        ? response.writeHead(302, { location: '/deep/openapi.json' }).end()
        : response.end(document.replace('"info"', '"servers":[{"url":"api"}],"info"')),
    );
    const { tools } = await addonTools().load(findAddon(server.url), ann);
    await tools[0]?.run({}, { signal: neverAborted, report: () => Promise.resolve(), cite: () => 1, maxResultBytes: 10_000 });
    expect(server.seen.at(-1)?.url).toBe('/deep/api/a');
  });
});

describe('findAddons', () => {
  const addons: Addons = { weather: { url: 'https://Weather.test:443/openapi.json' }, other: { url: 'https://other.test/' } };

  it.each([
    [[{ name: 'weather' }], ['weather']],
    [[{ url: 'https://weather.test/openapi.json' }], ['weather']],
    [
      [{ name: 'other' }, { url: 'https://weather.test/openapi.json' }, { name: 'weather' }],
      ['other', 'weather'],
    ],
    [[], []],
  ])('finds addons by name or by their own address, each once: %j', (requests, names) => {
    expect(findAddons({ addons, ...configured }, requests).map(({ name }) => name)).toEqual(names);
    expect(findAddons({ addons, ...guarded }, requests).map(({ name }) => name)).toEqual(names);
  });

  it.each([
    { name: 'nothing' },
    { name: '__proto__' },
    { name: 'constructor' },
    { name: 'toString' },
    { name: '' },
    { url: 'https://weather.test/openapi.json?x' },
    { url: 'https://weather.test/' },
    { url: 'https://evil.test/openapi.json' },
    { url: 'http://weather.test/openapi.json' },
    { url: 'not an address' },
    {},
  ])('rejects an addon that is not configured: %j', (requests) => {
    expect(() => findAddons({ addons, ...configured }, [{ name: 'other' }, requests])).toThrow(
      expect.objectContaining({ code: 'unknown_addon', status: 400, param: 'addons[1]' }),
    );
  });

  it('accepts any web address if addonUrls is guarded', () => {
    const requested = [{ url: 'https://Elsewhere.test/openapi.json' }, { url: 'https://elsewhere.test/openapi.json' }];
    expect(findAddons({ addons, ...guarded }, requested)).toEqual([
      {
        name: 'https://elsewhere.test/openapi.json',
        entry: { url: 'https://elsewhere.test/openapi.json', displayName: 'elsewhere.test' },
        isConfigured: false,
      },
    ]);
  });

  it.each([
    'ftp://elsewhere.test/',
    'https://user:secret@elsewhere.test/',
    'not an address',
    `https://x.test/${'a'.repeat(2048)}`,
    '',
  ])('rejects an invalid address: %j', (url) => {
    expect(() => findAddons({ addons, ...guarded }, [{ url }])).toThrow(
      expect.objectContaining({ code: 'unknown_addon', status: 400, param: 'addons[0]' }),
    );
  });
});
