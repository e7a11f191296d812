import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getText } from '#test/message-events.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

const name = 'get_weather';
const parameters = [{ name: 'city', description: 'The city', parameter_type: 'string' }];
let service: TestService;
let client: Anthropic;

beforeAll(async () => {
  service = await startService({
    models: { demo: { upstreams: [{ protocol: 'demo' }] } },
    applications: {
      clock: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        applicationProperties: {
          ...{ temperature: 0, instructions: 'Be kind.', model: 'demo' },
          client_toolset: [{ name, description: 'Gives the weather of a city', parameters }],
        },
      },
    },
  });
  client = new Anthropic({ apiKey: callerKey, baseURL: `${service.url}/anthropic`, maxRetries: 0 });
});

afterAll(() => service.close());

const question: Anthropic.MessageParam = { role: 'user', content: 'What is the weather in Paris?' };

async function send(...messages: Anthropic.MessageParam[]): Promise<Anthropic.Message & { parley?: object }> {
  return client.messages.create({ model: 'clock', max_tokens: 100, messages });
}

function toResult({ content }: Anthropic.Message): Anthropic.MessageParam {
  const use = content.find((block) => block.type === 'tool_use');
  return { role: 'user', content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: 'Sunny, 23 degrees' }] };
}

describe('quick app with tools of the client', () => {
  it('returns a tool call in the format of the Messages API', async () => {
    const message = await send(question);
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content.find((block) => block.type === 'tool_use')).toMatchObject({ name, input: { city: 'Paris' } });
    expect(message.parley).toMatchObject({ custom_content: { state: expect.anything() } });
  });

  it('continues the run for a client that returns the field parley', async () => {
    const first = await send(question);
    const { content, parley } = first;
    const second = await send(question, { role: 'assistant', content, parley } as Anthropic.MessageParam, toResult(first));
    expect(second.stop_reason).toBe('end_turn');
    expect(getText(second as never)).toContain('Sunny, 23 degrees');
  });

  it('answers from the result alone if the client does not return the field', async () => {
    const first = await send(question);
    const second = await send(question, { role: 'assistant', content: first.content }, toResult(first));
    expect(second.stop_reason).toBe('end_turn');
    expect(getText(second as never)).toContain('Sunny, 23 degrees');
  });

  it('rejects a modified state', async () => {
    const first = await send(question);
    const parley = { custom_content: { state: { forged: true } } };
    const changed = { role: 'assistant', content: first.content, parley } as Anthropic.MessageParam;
    await expect(send(question, changed, toResult(first))).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
  });
});
