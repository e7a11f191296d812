import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passThroughApis } from '#contract/pass-through.ts';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { getChatPath } from '#test/start-service.ts';
import { createProviderEntry, type Issuer, startIssuer } from '../identity/support.ts';
import { type CallerKind, callers, canary, type Outcome, ownerBucket } from './route-row.ts';
import { madeApplication, records, routeTable } from './route-table.ts';
import { type FullService, startFullService } from './support.ts';

const staffed = { userRoles: ['staff'] };

let fullService: FullService;
let others: ScriptedUpstream;
let issuer: Issuer;
/** Headers that identify each caller. */
let credentials: Readonly<Record<CallerKind, Record<string, string>>>;
const released = Promise.withResolvers<void>();

beforeAll(async () => {
  issuer = await startIssuer();
  others = await startScriptedUpstream(jsonReply({ choices: [], results: [], data: [], text: '', audio: '' }));
  fullService = await startFullService(
    (url) => ({
      models: {
        model: { upstreams: [{ endpoint: `${url}/v1` }], ...staffed },
        vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }], ...staffed },
        other: { upstreams: [{ endpoint: others.endpoint, api: passThroughApis }], ...staffed },
      },
      applications: { app: { endpoint: `${url}/app`, features: { consentRequired: true }, ...staffed } },
      keys: {
        'owner-key': { project: 'owner', roles: ['staff', 'admin'] },
        'admin-key': { project: 'admin', roles: ['staff', 'admin'] },
        'auditor-key': { project: 'auditor', roles: ['staff', 'auditor'] },
        'scim-key': { project: 'scim', role: 'scim' },
        'lead-key': { project: 'lead', role: 'staff' },
        'bound-key': { project: 'bound', role: 'staff', deployments: ['model', 'vectors', 'other', 'app'] },
        'stranger-key': { project: 'stranger', role: 'staff' },
        'roleless-key': { project: 'roleless', role: 'guest' },
      },
      projects: { owner: { owners: ['key:lead'] } },
      roles: { staff: { selfService: { keys: 1, maxDays: 30 } } },
      identityProviders: { sso: createProviderEntry(issuer, { rolesClaim: 'roles' }) },
    }),
    { storesContent: true },
  );
  for (const name of ['given', 'kept', 'doomed', 'gone'])
    await sendAs('owner-key', 'PUT', `/v1/files/${ownerBucket}/${name}`, canary);
  for (const [kind, record] of Object.entries(records))
    for (const name of ['kept', 'doomed']) await sendAs('owner-key', 'PUT', `/v1/${kind}/${ownerBucket}/${name}`, record);
  for (const name of ['made', 'doomed'])
    await sendAs('owner-key', 'PUT', `/v1/applications/${ownerBucket}/${name}`, madeApplication);
  const ended = await getCallKey((exchange) => jsonReply(plainCompletion('over'))(exchange));
  const chain = await getCallKey(async (exchange) => {
    fullService.host.script(jsonReply(plainCompletion('hi')));
    await released.promise;
    await jsonReply(plainCompletion('over'))(exchange);
  });
  credentials = {
    nobody: {},
    unknown: { 'api-key': 'no-such-key' },
    owner: { 'api-key': 'owner-key' },
    admin: { 'api-key': 'admin-key' },
    auditor: { 'api-key': 'auditor-key' },
    scim: { 'api-key': 'scim-key' },
    lead: { 'api-key': 'lead-key' },
    bound: { 'api-key': 'bound-key' },
    roleless: { 'api-key': 'roleless-key' },
    user: { authorization: `Bearer ${await issuer.token({ roles: ['staff'] })}` },
    chain: { 'api-key': chain },
    ended: { 'api-key': ended },
    stranger: { 'api-key': 'stranger-key' },
  };
});

afterAll(async () => {
  released.resolve();
  await others.close();
  await fullService[Symbol.asyncDispose]();
  await issuer.stop();
});

function sendAs(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  return fullService.service.sendRequest({ method, path, headers: { 'api-key': key, 'content-type': 'application/json' }, body });
}

/** Returns the per-request key of a call by the owner, who attaches the file `given`. */
async function getCallKey(answer: (exchange: UpstreamExchange) => unknown): Promise<string> {
  const sent = Promise.withResolvers<string>();
  fullService.host.script(async (exchange) => {
    sent.resolve(String(exchange.received.headers['api-key']));
    await answer(exchange);
  });
  const attachments = [{ index: 0, type: 'text/plain', url: `files/${ownerBucket}/given` }];
  const body = { messages: [{ role: 'user', content: 'read', custom_content: { attachments } }] };
  const answered = sendAs('owner-key', 'POST', getChatPath('app'), body);
  const key = await sent.promise;
  // A call that is held open is answered only at the end of the tests.
  await Promise.race([answered, new Promise((resolve) => setImmediate(resolve))]);
  return key;
}

/** Maps all files of the page to one pattern, because they are served the same way. */
function toPattern(route: string): string {
  return /^GET \/($|(assets|brand)\/|[\w.-]+\.(html|js|svg|png|webmanifest|woff2)$)/.test(route)
    ? 'GET / and the files of the page'
    : route;
}

describe('route table', () => {
  it('lists every registered route', () => {
    const registered = new Set(fullService.routes.map((route) => toPattern(route.replace(/^HEAD /, 'GET '))));
    registered.delete('GET / and the files of the page');
    expect([...registered].sort()).toEqual([...new Set(routeTable.map(({ route }) => route))].sort());
  });

  // Each row is one test of all callers, because a test costs as much time as its request.
  it.each(routeTable)('$route', async ({ toRequest, outcomes, route }) => {
    for (const caller of callers) {
      const { method, path, body, headers: own } = toRequest(caller);
      const type = body !== undefined && { 'content-type': 'application/json' };
      const headers = { ...credentials[caller], ...type, ...own };
      const answer = await fullService.service.sendRequest({ method: method ?? 'POST', path, headers, body });
      expect.soft([caller, path, toOutcome(answer)]).toEqual([caller, path, outcomes[caller]]);
      if (caller !== 'owner' && caller !== 'chain') expect.soft([caller, answer.text.includes(canary)]).toEqual([caller, false]);
      if (!route.startsWith('GET ')) continue;
      const head = await fullService.service.sendRequest({ method: 'HEAD', path, headers });
      expect.soft([caller, head.status, head.text]).toEqual([caller, answer.status, '']);
    }
  });
});

function toOutcome({ status, text }: TestResponse): Outcome {
  if (status < 400) return status;
  const { error } = JSON.parse(text) as { error?: { code?: string; type: string } };
  // Errors of SCIM have no code.
  if (error === undefined) return status;
  return `${status} ${error.code ?? error.type}`;
}
