import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';

/** The session revisions (`legacy`) and the stateless revision. */
export type Era = 'legacy' | '2026-07-28';
export const eras: readonly Era[] = ['legacy', '2026-07-28'];

export const toolCall = { name: 'model', arguments: { query: 'How are you?' } };

export interface ServedModel {
  readonly service: TestService;
  readonly model: ScriptedUpstream;
}

/** Starts a service with models `model` and `deep/er model` on a scripted upstream, and with deployments that reject calls. */
export async function startServed(configuration: object = {}, ...script: readonly Reply[]): Promise<ServedModel> {
  const model = await startScriptedUpstream(...script);
  const upstreams = [{ protocol: 'openai', endpoint: model.endpoint, key: 'upstream-key' }];
  const service = await startService({
    models: {
      model: { upstreams, displayName: 'The model', description: 'Knows much.' },
      'deep/er model': { upstreams },
      vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }] },
      speech: { upstreams: upstreams.map((upstream) => ({ ...upstream, api: ['audio/speech'] })) },
      closed: { upstreams, userRoles: ['staff'] },
    },
    applications: { hosted: { endpoint: `${model.url}/hosted`, features: { consentRequired: true } } },
    keys: { [callerKey]: { project: 'test' }, 'limited-key': { project: 'limited', role: 'limited' } },
    roles: { limited: { limits: { model: { requestDay: 1 } } } },
    ...configuration,
  });
  onTestFinished(async () => {
    await service.close();
    await model.close();
  });
  return { service, model };
}

/** Connects a stock MCP client to a deployment. */
export async function connect({ url }: TestService, era: Era, options: { id?: string; key?: string } = {}): Promise<Client> {
  const { id = 'model', key = callerKey } = options;
  const mode = era === 'legacy' ? 'legacy' : { pin: era };
  const client = new Client({ name: 'tester', version: '1' }, { versionNegotiation: { mode } });
  const address = new URL(`${url}/v1/deployments/${id}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers: { 'api-key': key } } }));
  onTestFinished(() => client.close());
  return client;
}

/** Posts one body unchanged. */
export function post(service: TestService, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
  return service.sendRequest({ path: '/v1/deployments/model/mcp', headers: { ...withKey(), ...headers }, body });
}

export function rpc(method: string, params?: object): object {
  return { jsonrpc: '2.0', id: 7, method, params };
}

/** Creates a request of the stateless revision. */
export function stateless(method: string, params: object = {}, meta: object = {}): object {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  };
  return rpc(method, { ...params, _meta });
}

/** Returns the header fields that mirror a stateless request. */
export function mirrored(method: string, name?: string): Record<string, string> {
  return { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name !== undefined && { 'mcp-name': name }) };
}

/** Creates a reply with custom content. */
export function replyWith(custom_content: object, content = 'See.'): Reply {
  return jsonReply({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content, custom_content }, finish_reason: 'stop' }],
  });
}
