import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeApi } from '#test/api-description.ts';
import {
  type DocumentedOperation,
  type ExampleRequest,
  listMissingExamples,
  type OpenApiDocument,
  readOperations,
  toRequests,
} from '#test/documented.ts';
import { Validators } from '#test/validators.ts';
import { aliases, credentials, type ExampleService, startExampleService, toServedPath } from './example-service.ts';

const document = describeApi(aliases);
const operations = readOperations(document);
const requests = operations.flatMap(toRequests);
const validators = new Validators(document);

let service: ExampleService;
/** Whether a request may have changed entities that the examples reference. Most tests only read, and a restore takes longer than a test. */
let isChanged = true;

beforeAll(async () => {
  service = await startExampleService();
});

afterAll(() => service[Symbol.asyncDispose]());

beforeEach(restore);

async function restore(): Promise<void> {
  if (isChanged) await service.restore();
  isChanged = false;
}

/** Tags of operations that call a deployment and store no entities that the examples reference. */
const callTags: ReadonlySet<string> = new Set(['Chat', 'Embeddings', 'Further APIs', 'Messages']);

function isReading({ method, path, tags }: DocumentedOperation): boolean {
  if (path.startsWith('/v1/chat-runs/')) return method === 'get';
  return method === 'get' || method === 'head' || tags.every((tag) => callTags.has(tag));
}

/** Sends a request that accepts every media type of the described responses. */
function send({ operation, url, headers, body }: ExampleRequest, caller: Readonly<Record<string, string>>): Promise<Response> {
  if (!isReading(operation)) isChanged = true;
  const accept = Object.values(operation.responses).flatMap(({ content = {} }) => Object.keys(content));
  const allHeaders = { accept: accept.join(', ') || '*/*', ...headers, ...caller, ...(body && getContentType(body.type)) };
  return fetch(service.url + url, { method: operation.method.toUpperCase(), headers: allHeaders, body: toBytes(body) });
}

// `fetch` sets the type of a form, and files are sent without a type.
function getContentType(type: string): Record<string, string> {
  return type === 'application/json' || type === 'text/csv' ? { 'content-type': type } : {};
}

function toBytes(body: ExampleRequest['body']) {
  if (body === undefined) return null;
  if (body.type === 'application/json') return JSON.stringify(body.value);
  if (body.type !== 'multipart/form-data') return Buffer.from(String(body.value));
  const form = new FormData();
  for (const [name, content] of Object.entries(body.value as Record<string, string>))
    form.append(name, new Blob([content]), name);
  return form;
}

/** Returns the differences between a response and its description. */
async function listDifferences(operation: DocumentedOperation, answer: Response): Promise<readonly string[]> {
  const text = await answer.text();
  const { content } = operation.responses[answer.status] ?? {};
  if (content === undefined) return text === '' ? [] : ['it has a body'];
  const [mediaType = ''] = (answer.headers.get('content-type') ?? '').split(';', 1);
  const type = mediaType in content ? mediaType : '*/*';
  if (!(type in content)) return [`its media type is ${mediaType}`];
  return toValues(type, text).flatMap(validators.answer(operation, answer.status, type));
}

/** Returns the values in a body that the schema of its media type describes. */
function toValues(type: string, text: string): readonly unknown[] {
  if (/json$/.test(type)) return [JSON.parse(text)];
  if (type !== 'text/event-stream') return [text];
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, value = '']) => value).filter((value) => value !== '[DONE]');
  expect(data).not.toEqual([]);
  return data.map((value) => JSON.parse(value));
}

function listSchemes({ security }: DocumentedOperation): readonly string[] {
  return security.flatMap((scheme) => Object.keys(scheme));
}

// Some operations are only for applications that serve a call or for users who signed in.
function credentialsFor({ path }: DocumentedOperation, scheme: string): Readonly<Record<string, string>> {
  if (path.startsWith('/v1/user/keys')) return service.signedIn[scheme] ?? {};
  const kind = path.includes('/per-request-permissions/') ? service.perRequest : credentials;
  return kind[scheme] ?? {};
}

// Vitest truncates objects in titles, so the title is a separate argument.
function withTitle<Case extends { readonly title: string }>(each: Case): [string, Case] {
  return [each.title, each];
}

/** Returns the described success statuses. */
function successes({ responses }: DocumentedOperation): number[] {
  return Object.keys(responses)
    .map(Number)
    .filter((status) => status < 400);
}

describe('every API operation', () => {
  it('has an example of each required input', () => {
    const missing = operations.flatMap((operation) =>
      listMissingExamples(operation).map((what) => `${operation.operationId}: ${what}`),
    );
    expect(missing).toEqual([]);
  });

  it('has a unique summary in its tag', () => {
    const names = operations.map(({ tags, summary }) => `${tags.join()}: ${summary}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('is in the served OpenAPI document', async () => {
    const answer = await fetch(`${service.url}/openapi.json`);
    const { info, ...rest } = (await answer.json()) as { readonly info: object };
    const { info: described, ...expected } = document as OpenApiDocument & { readonly info: object };
    expect(rest).toEqual(expected);
    const { version } = (await (await fetch(`${service.url}/health`)).json()) as { readonly version: string };
    expect(info).toEqual({ ...described, version });
  });

  it('has a route, and every route has an operation', () => {
    const isRejecting = /^GET \S+\/v1\/responses$|^GET \/v1\/responses$/;
    const isPageRoute = /^GET \/($|assets\/|brand\/|docs\/|[\w.-]+\.(html|js|svg|png|webmanifest|woff2)$)/;
    const toPattern = (route: string): string => route.replace(/:(\w+)(\([^)]*\))?/g, '{$1}');
    const routes = service.routes
      .filter((route) => !route.startsWith('HEAD ') && !isPageRoute.test(route) && !isRejecting.test(route))
      .map(toPattern);
    const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const isAt = (route: string) => (path: string) =>
      path === route || (route.endsWith('*') && path.startsWith(route.slice(0, -1)));
    expect(routes.filter((route) => !described.some(isAt(route)))).toEqual([]);
    const served = operations.map(({ method, path }) => `${method.toUpperCase()} ${toServedPath(method.toUpperCase(), path)}`);
    expect(served.filter((path) => !path.startsWith('HEAD ') && !routes.some((route) => isAt(route)(path)))).toEqual([]);
  });
});

describe('every API example', () => {
  it('matches its schema if it is a parameter', () => {
    const wrong = operations.flatMap((operation) =>
      (operation.parameters ?? []).flatMap(({ example }, nth) =>
        example === undefined ? [] : validators.parameter(operation, nth)(example),
      ),
    );
    expect(wrong).toEqual([]);
  });

  const bodies = requests.flatMap(({ body, ...request }) => (body?.type === 'application/json' ? [{ ...request, body }] : []));

  it.each(bodies.map(withTitle))('matches the request schema of %s', (_title, { operation, body }) => {
    expect(validators.request(operation, body.type)(body.value)).toEqual([]);
  });

  it.each(requests.map(withTitle))('receives the described response: %s', async (_title, request) => {
    const { operation } = request;
    const [scheme] = listSchemes(operation);
    const answer = await send(request, credentialsFor(operation, scheme ?? ''));
    expect(successes(operation)).toContain(answer.status);
    expect(await listDifferences(operation, answer)).toEqual([]);
  });
});

describe('every API operation that requires a key', () => {
  const keyed = operations
    .filter(({ security }) => security.length > 0)
    .flatMap((operation) => toRequests(operation).slice(0, 1).map(withTitle));

  it.each(keyed)('accepts the key in each described scheme: %s', async (_title, request) => {
    for (const scheme of listSchemes(request.operation)) {
      const answer = await send(request, credentialsFor(request.operation, scheme));
      expect([scheme, answer.status < 400]).toEqual([scheme, true]);
      await answer.arrayBuffer();
      await restore();
    }
  });

  it.each(keyed)('rejects a client without a key as described: %s', async (_title, request) => {
    const answer = await send(request, {});
    expect(answer.status).toBe(401);
    isChanged = false;
    expect(await listDifferences(request.operation, answer)).toEqual([]);
  });
});
