import { expect, it } from 'vitest';
import type { ScriptedUpstream } from '#test/scripted-upstream.ts';
import { instead, startSessions, startStateless } from './servers.ts';
import { chatRequest, startApp, textReply } from './support.ts';

const inputSchema = {
  $schema: 'http://json-schema.org/draft-04/schema#',
  id: 'https://host/schemas/order',
  type: ['OBJECT'],
  properties: {
    count: { type: 'integer', minimum: 0, exclusiveMinimum: true, required: true },
    note: { type: 'string', nullable: true },
    place: { $ref: '#/definitions/place' },
  },
  required: false,
  definitions: { place: { type: ['string'] } },
};

const parameters = {
  $id: 'https://host/schemas/order',
  type: 'object',
  properties: {
    count: { type: 'integer', exclusiveMinimum: 0 },
    note: { type: ['string', 'null'] },
    place: { $ref: '#/$defs/place' },
  },
  required: ['count'],
  $defs: { place: { type: 'string' } },
};

function offeredParameters({ requests }: ScriptedUpstream): unknown {
  const tools = (requests[0]?.body.tools ?? []) as { function: { parameters: unknown } }[];
  return tools.map((tool) => tool.function.parameters);
}

it.each([
  ['with sessions', startSessions],
  ['without sessions', startStateless],
])('offers a tool of a server %s as JSON Schema 2020-12, regardless of the draft that the server uses', async (_what, start) => {
  const answer = (id: unknown) =>
    Response.json({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [{ name: 'order', inputSchema }] },
    });
  const { url } = await start([], { before: instead('tools/list', answer) });
  const { service, model } = await startApp({ url }, [textReply('Done.')]);
  await service.chat('app', chatRequest);
  expect(offeredParameters(model)).toEqual([parameters]);
});
