import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { calls, type Rig, says, startRig } from '../quick-apps/support.ts';
import { createClient } from './support.ts';

const city = { name: 'city', description: 'The city.', parameter_type: 'string' };
const app = {
  client_toolset: [
    { name: 'get_weather', description: 'Gives the weather.', parameters: [city] },
    { name: 'open-door', description: 'Opens a door.', parameters: [] },
  ],
};

type Call = OpenAI.Responses.ResponseFunctionToolCall;
type Input = OpenAI.Responses.ResponseInput;

function listCalls({ output }: OpenAI.Responses.Response): Call[] {
  return output.filter((item) => item.type === 'function_call');
}

function toOutputs(response: OpenAI.Responses.Response, text: string): Input {
  return listCalls(response).map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: text }));
}

describe('client tools of a quick app over Responses', () => {
  let stored: ResponseDatabase;
  let rig: Rig;
  let client: OpenAI;

  beforeAll(async () => {
    stored = await openResponses('SQLite');
    rig = await startRig({ app, replies: [], options: { responses: stored.stores() } });
    client = createClient(rig.service);
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await stored[Symbol.asyncDispose]();
  });

  /** For each way to continue, starts a conversation and returns a function that creates the next request body. */
  const continuations: Record<string, () => Promise<(previous: OpenAI.Responses.Response | undefined, input: Input) => object>> =
    {
      previous_response_id: async () => (previous, input) => ({ input, ...(previous && { previous_response_id: previous.id }) }),
      conversation: async () => {
        const { id } = await client.conversations.create();
        return (_previous, input) => ({ input, conversation: id });
      },
      'store: false': async () => {
        const sent: Input = [];
        return (previous, input) => {
          sent.push(...((previous?.output ?? []) as Input), ...input);
          return { input: [...sent], store: false };
        };
      },
    };
  const cases = Object.keys(continuations).flatMap((continuation) =>
    [false, true].map((isStreamed) => ({ way: continuation, isStreamed })),
  );

  async function respond(body: object, isStreamed: boolean): Promise<OpenAI.Responses.Response> {
    const request = { model: 'app', ...body };
    return isStreamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  }

  it.each(cases)('accept their output with $way (streamed: $isStreamed)', async ({ way: continuation, isStreamed }) => {
    const start = continuations[continuation] as (typeof continuations)[string];
    const toBody = await start();
    rig.model.script(calls('Let me look.', ['get_weather', { city: 'Oslo' }]), says('Take a coat.'), says('You are welcome.'));
    const question: Input = [{ role: 'user', content: 'Do I need a coat?' }];
    const toolResponse = await respond(toBody(undefined, question), isStreamed);
    expect(listCalls(toolResponse)).toMatchObject([{ name: 'get_weather', arguments: '{"city":"Oslo"}', status: 'completed' }]);
    const answer = await respond(toBody(toolResponse, toOutputs(toolResponse, 'Rain.')), isStreamed);
    expect(answer.output_text).toBe('Take a coat.');
    expect(rig.sent().slice(2)).toMatchObject([
      { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'call_0', function: { name: 'get_weather' } }] },
      { role: 'tool', tool_call_id: 'call_0', content: 'Rain.' },
    ]);
    const lastAnswer = await respond(toBody(answer, [{ role: 'user', content: 'Thanks!' }]), isStreamed);
    expect(lastAnswer.output_text).toBe('You are welcome.');
  });

  it('are called one per response if the model calls several, and the model receives all results together', async () => {
    rig.model.script(calls(['get_weather', { city: 'Oslo' }], ['open-door', {}]), says('Done.'));
    let response = await respond({ input: 'Do both.' }, false);
    for (const name of ['get_weather', 'open-door']) {
      expect(listCalls(response).map((call) => call.name)).toEqual([name]);
      response = await respond({ input: toOutputs(response, `from ${name}`), previous_response_id: response.id }, false);
    }
    expect(response.output_text).toBe('Done.');
    expect(rig.sent().slice(-2)).toMatchObject([
      { role: 'tool', tool_call_id: 'call_0', content: 'from get_weather' },
      { role: 'tool', tool_call_id: 'call_1', content: 'from open-door' },
    ]);
  });

  it('can be called together with tools of the request', async () => {
    const tools = [{ type: 'function', name: 'book', parameters: { type: 'object' }, strict: false }];
    rig.model.script(calls(['get_weather', { city: 'Oslo' }], ['book', {}]), says('Booked.'));
    const toolResponse = await respond({ input: 'Do both.', tools }, false);
    expect(listCalls(toolResponse).map(({ call_id, name }) => [call_id, name])).toEqual([
      ['call_0', 'get_weather'],
      ['call_1', 'book'],
    ]);
    const body = { input: toOutputs(toolResponse, 'Fine.'), previous_response_id: toolResponse.id, tools };
    expect((await respond(body, false)).output_text).toBe('Booked.');
  });
});
