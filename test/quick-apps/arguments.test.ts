import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { calls, getStages, getToolMessages, says, startRigWith } from './support.ts';

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream();
  api.script(({ received, response }) => void response.end(`from ${received.path}`));
});

afterAll(() => api.close());

const seats = { type: 'integer', minimum: 1, parameter_info: { type: 'query', key: 'seats' } };
const note = { type: 'string', parameter_info: { type: 'query', key: 'note' } };

const booking = (): object => ({
  web_api_toolset: [
    {
      ...{ type: 'rest-api', name: 'API' },
      tools: [
        {
          rest_api_method_info: { method_url: `${api.url}/book`, method_type: 'get' },
          open_ai_tool: {
            type: 'function',
            function: {
              name: 'book',
              description: 'Books.',
              parameters: { type: 'object', properties: { seats, note }, required: ['seats'] },
            },
          },
        },
      ],
    },
  ],
});

describe('arguments of a tool', () => {
  it.each([
    [{}, "arguments must have required property 'seats'"],
    [{ seats: 'two' }, 'arguments/seats must be integer'],
    [{ seats: 0 }, 'arguments/seats must be >= 1'],
  ])('that violate its schema are not sent: %j', async (args, problem) => {
    await using rig = await startRigWith(booking(), calls(['book', args]), says('Sorry.'));
    const before = api.requests.length;
    const response = await rig.chat('Book.');
    expect(getToolMessages(rig)).toEqual([
      `The tool was not run: ${problem}. Call it again with arguments that follow its schema.`,
    ]);
    expect(getStages(response).map(({ status }) => status)).toEqual(['failed']);
    expect(api.requests.length).toBe(before);
  });

  it('that are optional are omitted if they are null', async () => {
    await using rig = await startRigWith(booking(), calls(['book', { seats: 2, note: null }]), says('Booked.'));
    await rig.chat('Book.');
    expect(api.requests.at(-1)?.path).toBe('/book?seats=2');
  });
});
