import { describe, expect, it } from 'vitest';
import type { Chunk } from '#contract/chat/chunk.ts';
import { FunctionCallReply, toToolsRequest } from '#contract/chat/function-calling.ts';
import { collectChunks, fold, tool } from '#test/run-loop.ts';
import { answers, calls, scriptedModel } from '#test/scripted-model.ts';

const time = tool('get_time', () => 'noon');

describe('runLoop with client tools', () => {
  const listNames = (tools: unknown) => (tools as (typeof clientTool)[]).map((offered) => offered.function.name);
  const clientTool = { type: 'function', function: { name: 'open_door', parameters: { type: 'object' } } };
  const request = {
    messages: [{ role: 'user' as const, content: 'Hello' }],
    tools: [clientTool],
    n: 2,
    addons: [{ name: 'weather' }],
    temperature: 0,
  };

  it('offers the tools of the client and of the service, and drops addons and n', async () => {
    const model = scriptedModel(answers('Hi.'));
    await collectChunks({
      sendRequest: model.sendRequest,
      tools: [time],
      request: { ...request, tool_choice: 'required', parallel_tool_calls: false },
    });
    const { tools, ...rest } = { ...model.requests[0] };
    expect(listNames(tools)).toEqual(['open_door', 'get_time']);
    expect(rest).toEqual({ messages: request.messages, temperature: 0, tool_choice: 'required', parallel_tool_calls: false });
  });

  it('forces a tool in the first turn only', async () => {
    const model = scriptedModel(calls(['get_time', {}]), answers('Noon.'));
    await collectChunks({ sendRequest: model.sendRequest, tools: [time], request: { ...request, tool_choice: 'required' } });
    expect(model.requests.map(({ tool_choice }) => tool_choice)).toEqual(['required', undefined]);
  });

  it("stops the run with the calls of the client's tools", async () => {
    const model = scriptedModel(calls(['open_door', { key: 1 }]));
    const chunks = await collectChunks({ sendRequest: model.sendRequest, tools: [time], request });
    expect(chunks.at(-2)?.choices[0]?.delta.tool_calls).toEqual([
      { index: 0, id: 'id_open_door_0', type: 'function', function: { name: 'open_door', arguments: '{"key":1}' } },
    ]);
    expect(fold(chunks)).toMatchObject({ finishReasons: ['tool_calls'], stages: [] });
    expect(model.requests).toHaveLength(1);
  });

  it("runs the service's tools of a mixed reply first", async () => {
    const model = scriptedModel(calls(['open_door', {}], ['get_time', {}]));
    const chunks = await collectChunks({ sendRequest: model.sendRequest, tools: [time], request });
    expect(fold(chunks).stages).toMatchObject([{ name: 'get_time', status: 'completed' }]);
    expect(chunks.at(-2)?.choices[0]?.delta.tool_calls).toMatchObject([{ index: 0, function: { name: 'open_door' } }]);
    expect(fold(chunks).finishReasons).toEqual(['tool_calls']);
  });

  it('supports client functions, which are translated before the run and back after it', async () => {
    const functions = [{ name: 'open_door', parameters: { type: 'object' } }];
    const model = scriptedModel(calls(['get_time', {}]), calls(['open_door', { key: 1 }]));
    const translatedRequest = toToolsRequest({ messages: [{ role: 'user', content: 'Hello' }], functions });
    const functionCallReply = new FunctionCallReply();
    const chunks = await collectChunks({ sendRequest: model.sendRequest, tools: [time], request: translatedRequest });
    const translatedChunks = chunks.map((chunk) => functionCallReply.toFunctionCall(chunk) as unknown as Chunk);
    expect(listNames(model.requests[0]?.tools)).toEqual(['open_door', 'get_time']);
    expect(translatedChunks.at(-2)?.choices[0]?.delta.function_call).toEqual({ name: 'open_door', arguments: '{"key":1}' });
    expect(translatedChunks.at(-1)?.choices[0]?.finish_reason).toBe('function_call');
  });

  it('renames a service tool that has the name of a client tool', async () => {
    const model = scriptedModel(answers('Hi.'));
    await collectChunks({ sendRequest: model.sendRequest, tools: [tool('open_door', () => 'x')], request });
    expect(listNames(model.requests[0]?.tools)).toEqual(['open_door', expect.stringMatching(/^open_door_[0-9a-f]{8}$/)]);
  });
});

describe('runLoop with missing toolsets', () => {
  it('sends them as failed stages before the answer', async () => {
    const missing = [{ name: 'Weather', reason: 'The document cannot be loaded.' }];
    const chunks = await collectChunks({ sendRequest: scriptedModel(answers('Hi.')).sendRequest, tools: [], missing });
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant' });
    expect(fold(chunks)).toMatchObject({
      content: 'Hi.',
      stages: [{ index: 0, name: 'Weather', content: 'The document cannot be loaded.', status: 'failed' }],
    });
  });
});
