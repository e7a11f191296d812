import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { jsonReply, type ReceivedRequest, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { calls, says } from '../quick-apps/support.ts';
import { getApplicationPath, ownBucket, quickApp, save } from './support.ts';

interface Toolset {
  readonly authorization: JsonObject;
  readonly tools: readonly {
    readonly open_ai_tool: { readonly function: { readonly name: string; readonly parameters: JsonObject } };
  }[];
}

let api: ScriptedUpstream;
let model: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  api = await startScriptedUpstream(jsonReply({ ok: true }));
  model = await startScriptedUpstream();
  service = await startService({
    models: { model: { upstreams: [{ endpoint: model.endpoint }] } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  });
});

afterAll(async () => {
  await service.close();
  await model.close();
  await api.close();
});

/** Imports a document. Returns toolsets that can be saved. */
async function importFile(file: string): Promise<{ toolsets: Toolset[]; notes: string[] }> {
  const document = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
  const body = { document, url: `${api.url}/openapi` };
  const { json } = await service.sendRequest({ path: '/v1/import-openapi', headers: withKey(), body });
  return json as { toolsets: Toolset[]; notes: string[] };
}

/**
 * Saves an application with these toolsets, makes the model call the operations in order, and returns the requests that
 * the API receives.
 */
async function callOperations(
  name: string,
  toolsets: readonly Toolset[],
  operations: readonly (readonly [string, unknown])[],
): Promise<ReceivedRequest[]> {
  const before = api.requests.length;
  expect((await save(service, getApplicationPath(name), quickApp({ model: 'model', web_api_toolset: toolsets }))).status).toBe(
    201,
  );
  for (const call of operations) {
    model.script(calls(call), says('Done.'));
    const { completion } = await service.chat(`applications/${ownBucket}/${name}`, {
      messages: [{ role: 'user', content: 'Go.' }],
    });
    expect(completion.choices[0]?.message.custom_content?.stages).toMatchObject([{ status: 'completed' }]);
  }
  return api.requests.slice(before);
}

const toTuple = ({ method, path, headers, text }: ReceivedRequest) => [`${method} ${path}`, headers['content-type'] ?? '', text];
const listNames = (toolsets: readonly Toolset[]) =>
  toolsets.flatMap(({ tools }) => tools.map(({ open_ai_tool }) => open_ai_tool.function.name));

describe('operations with references, alternatives, text, and bytes', () => {
  it('are all offered, and are sent as the document defines them', async () => {
    const { toolsets, notes } = await importFile('examples/tools/forge.yaml');
    expect([notes, listNames(toolsets).length, new Set(listNames(toolsets)).size]).toEqual([[], 36, 36]);
    const repository = { owner: 'ada', repo: 'engine' };
    const json = 'application/json';
    const expected: readonly [string, JsonObject, unknown[]][] = [
      [
        'issues_list-for-repo',
        { ...repository, state: 'open', labels: ['bug', 'ui'] },
        ['GET /forge/repos/ada/engine/issues?state=open&labels=bug%2Cui', '', ''],
      ],
      [
        'issues_create',
        { ...repository, title: 'It stops', labels: ['bug'], parent: { title: 1 } },
        ['POST /forge/repos/ada/engine/issues', json, '{"title":"It stops","parent":{"title":1},"labels":["bug"]}'],
      ],
      [
        'issues_add-labels',
        { ...repository, issue_number: 7, body: ['bug'] },
        ['POST /forge/repos/ada/engine/issues/7/labels', json, '["bug"]'],
      ],
      [
        'issues_add-labels',
        { ...repository, issue_number: 7, body: { labels: ['ui'] } },
        ['POST /forge/repos/ada/engine/issues/7/labels', json, '{"labels":["ui"]}'],
      ],
      [
        'gists_update',
        { gist_id: 'g1', description: 'New.', files: { 'a.txt': { content: 'x' } } },
        ['PATCH /forge/gists/g1', json, '{"description":"New.","files":{"a.txt":{"content":"x"}}}'],
      ],
      [
        'checks_create',
        { ...repository, name: 'lint', head_sha: 'abc', status: 'queued' },
        ['POST /forge/repos/ada/engine/check-runs', json, '{"name":"lint","head_sha":"abc","status":"queued"}'],
      ],
      ['markdown_render-raw', { body: '# Hello' }, ['POST /forge/markdown/raw', 'text/plain', '# Hello']],
      [
        'repos_upload-release-asset',
        { ...repository, release_id: 3, name: 'a.bin', body: 'data:application/zip;base64,aGVsbG8=' },
        ['POST /uploads/repos/ada/engine/releases/3/assets?name=a.bin', 'application/octet-stream', 'hello'],
      ],
      [
        'repos_get-content',
        { ...repository, path: 'src/main.c', ref: 'main' },
        ['GET /forge/repos/ada/engine/contents/src%2Fmain.c?ref=main', '', ''],
      ],
      [
        'issues_remove-all-labels',
        { ...repository, issue_number: 7 },
        ['DELETE /forge/repos/ada/engine/issues/7/labels', '', ''],
      ],
    ];
    const sarif = {
      ...repository,
      commit_sha: 'abc',
      sarif: 'data:application/sarif+json;name=found.sarif,{"runs":[]}',
      tool: { name: 'scan' },
    };
    const operations = expected.map(([name, args]) => [name, args] as const);
    const requests = await callOperations('forge', toolsets, [...operations, ['code-scanning_upload', sarif]]);
    expect(requests.slice(0, -1).map(toTuple)).toEqual(expected.map(([, , request]) => request));
    const uploadRequest = requests.at(-1) as ReceivedRequest;
    const form = await new Response(uploadRequest.text, {
      headers: { 'content-type': uploadRequest.headers['content-type'] ?? '' },
    }).formData();
    const file = form.get('sarif') as File;
    expect([form.get('commit_sha'), form.get('tool'), file.name, file.type, await file.text()]).toEqual([
      'abc',
      '{"name":"scan"}',
      'found.sarif',
      'application/sarif+json',
      '{"runs":[]}',
    ]);
    expect(uploadRequest.path).toBe('/forge/repos/ada/engine/code-scanning/sarifs');
  });
});

describe('operations with form bodies', () => {
  const form = 'application/x-www-form-urlencoded';

  it('send nested fields with brackets, also in the query', async () => {
    const { toolsets, notes } = await importFile('test/fixtures/openapi/payments.yaml');
    expect([notes, listNames(toolsets)]).toEqual([[], ['GetCharges', 'PostCharges', 'DeleteChargesCharge', 'PostFiles']]);
    const charge = {
      amount: 5,
      currency: 'nok',
      expand: ['customer'],
      metadata: { order: 'A-1' },
      line_items: [{ price: 'p1', quantity: 2 }],
    };
    const requests = await callOperations('payments', toolsets, [
      ['GetCharges', { created: { gt: 10, lte: 20 }, expand: ['data.customer'], limit: 3 }],
      ['PostCharges', charge],
      ['DeleteChargesCharge', { charge: 'ch_1' }],
      ['PostFiles', { file: 'a,b', purpose: 'evidence', file_link_data: { create: true } }],
    ]);
    expect(
      requests
        .slice(0, 3)
        .map(toTuple)
        .map(([line, type, text]) => [decodeURIComponent(line ?? ''), type, decodeURIComponent(text ?? '')]),
    ).toEqual([
      ['GET /pay/v1/charges?created[gt]=10&created[lte]=20&expand[0]=data.customer&limit=3', '', ''],
      [
        'POST /pay/v1/charges',
        form,
        'amount=5&currency=nok&expand[0]=customer&metadata[order]=A-1&line_items[0][price]=p1&line_items[0][quantity]=2',
      ],
      ['DELETE /pay/v1/charges/ch_1', '', ''],
    ]);
    expect(requests[3]?.path).toBe('/files/v1/files');
    expect(requests[3]?.text).toMatch(
      /name="file"; filename="file".*a,b.*name="purpose".*evidence.*name="file_link_data\[create\]".*true/s,
    );
  });

  it('repeat the field for arrays, and retain unusual parameter names', async () => {
    const { toolsets, notes } = await importFile('test/fixtures/openapi/telephony.json');
    expect([notes, listNames(toolsets)]).toEqual([[], ['ListMessage', 'CreateMessage', 'DeleteMessage']]);
    const AccountSid = `AC${'0'.repeat(32)}`;
    const messagesPath = `/tel/2010-04-01/Accounts/${AccountSid}/Messages`;
    const message = {
      AccountSid,
      To: '+4712345678',
      Body: 'Hi & bye',
      MediaUrl: ['https://a.example/1', 'https://a.example/2'],
      ContentVariables: { a: 1 },
    };
    const requests = await callOperations('telephony', toolsets, [
      ['ListMessage', { AccountSid, DateSent_: '2026-01-01T00:00:00Z', PageSize: 5 }],
      ['CreateMessage', message],
      ['DeleteMessage', { AccountSid, Sid: 'SM1' }],
    ]);
    const sent =
      'To=%2B4712345678&Body=Hi+%26+bye&MediaUrl=https%3A%2F%2Fa.example%2F1&MediaUrl=https%3A%2F%2Fa.example%2F2&ContentVariables=%7B%22a%22%3A1%7D';
    expect(requests.map(toTuple)).toEqual([
      [`GET ${messagesPath}.json?DateSent%3C=2026-01-01T00%3A00%3A00Z&PageSize=5`, '', ''],
      [`POST ${messagesPath}.json`, form, sent],
      [`DELETE ${messagesPath}/SM1.json`, '', ''],
    ]);
  });
});

it('an application with an invalid media type is rejected with the path of the error', async () => {
  const { toolsets } = await importFile('test/fixtures/openapi/telephony.json');
  const invalidToolsets = JSON.parse(JSON.stringify(toolsets).replace('application/x-www-form-urlencoded', 'a form')) as unknown;
  const { status, error } = await save(
    service,
    getApplicationPath('broken'),
    quickApp({ model: 'model', web_api_toolset: invalidToolsets }),
  );
  expect([status, error.param]).toEqual([
    400,
    'applicationProperties.web_api_toolset[0].tools[1].rest_api_method_info.content_type',
  ]);
});
