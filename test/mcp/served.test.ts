import type { Progress } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { delta, finish, hello } from '#test/chunks.ts';
import { errorReply, eventsReply, silence } from '#test/scripted-upstream.ts';
import { connect, eras, replyWith, startServed, toolCall } from './served-support.ts';
import { getMessages, getToolResults, startApp, textReply, toolCallReply } from './support.ts';

const answer = textReply('An answer.');

describe.each(eras)('a deployment as an MCP server for a stock client (%s)', (era) => {
  it('lists one tool that is named after the deployment', async () => {
    const { service } = await startServed();
    const client = await connect(service, era);
    expect(client.getServerVersion()).toMatchObject({ name: 'parley', title: 'The model' });
    expect(client.getInstructions()).toBe('Knows much.');
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'model',
        title: 'The model',
        description: 'Knows much.',
        inputSchema: { type: 'object', required: ['query'], properties: { query: { type: 'string' } } },
        annotations: { readOnlyHint: true },
      },
    ]);
  });

  it('is found by an ID with multiple segments in each encoding', async () => {
    const { service } = await startServed();
    for (const id of ['deep/er%20model', 'deep%2Fer%20model']) {
      const { tools } = await (await connect(service, era, { id })).listTools();
      expect(tools.map(({ name }) => name)).toEqual(['er_model']);
    }
  });

  it('answers a tool call with the text of the model', async () => {
    const { service, model } = await startServed({}, answer);
    const client = await connect(service, era);
    const result = await client.callTool(toolCall);
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'An answer.' }] });
    expect(result.isError).toBeUndefined();
    expect(getMessages(model, 0)).toEqual([{ role: 'user', content: 'How are you?' }]);
  });

  it('returns each attachment in the content type that fits it', async () => {
    const attachments = [
      { index: 0, title: 'Notes', data: '# Notes', reference_url: 'https://x.test/notes' },
      { index: 1, type: 'image/png', data: 'aGk=' },
      { index: 2, type: 'image/svg+xml', data: '<svg/>' },
      { index: 3, type: 'application/pdf', title: 'Paper', url: 'files/public/paper.pdf' },
      { index: 4, type: 'application/zip', data: 'aGk=' },
    ];
    const { service } = await startServed(
      {},
      replyWith({ attachments, stages: [{ index: 0, name: 'Look', status: 'completed' }] }),
    );
    const { content } = await (await connect(service, era)).callTool(toolCall);
    expect(content).toEqual([
      { type: 'text', text: 'See.' },
      {
        type: 'resource',
        resource: { uri: 'https://x.test/notes', mimeType: 'text/markdown', text: '# Notes', _meta: { title: 'Notes' } },
      },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'attachment:2', mimeType: 'image/svg+xml', text: '<svg/>' } },
      { type: 'resource_link', uri: 'files/public/paper.pdf', name: 'Paper', mimeType: 'application/pdf' },
      { type: 'resource', resource: { uri: 'attachment:4', mimeType: 'application/zip', blob: 'aGk=' } },
    ]);
  });

  it('reports stages and text as progress if the client requests it', async () => {
    const stage = (name: string, index: number) => delta({ custom_content: { stages: [{ index, name, status: null }] } });
    const script = eventsReply(stage('Look it up', 0), stage('Think', 1), delta({ content: 'An answer.' }), finish());
    const { service } = await startServed({}, script);
    const updates: Progress[] = [];
    const client = await connect(service, era);
    const result = await client.callTool(toolCall, { onprogress: (progress) => updates.push(progress) });
    expect(updates).toMatchObject([
      { progress: 1, message: 'Look it up' },
      { progress: 2, message: 'Think' },
      { progress: 3, message: '10 characters' },
    ]);
    expect(result.content).toEqual([{ type: 'text', text: 'An answer.' }]);
  });

  it('returns the error message if a call fails before or during the answer', async () => {
    const broken = eventsReply(delta({ content: 'An' }), {
      error: { message: 'The cable broke.', type: 'x', param: null, code: null },
    });
    const { service } = await startServed({}, errorReply(400, {}, { message: 'Too rude.', code: 'rude' }), broken);
    const client = await connect(service, era);
    expect(await client.callTool(toolCall)).toMatchObject({ isError: true, content: [{ text: 'Too rude. (rude)' }] });
    const updates: Progress[] = [];
    const late = await client.callTool(toolCall, { onprogress: (progress) => updates.push(progress) });
    expect(late).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/\(\w+\)$/) }] });
    expect(updates).toHaveLength(1);
  });

  it('enforces limits and returns the error as a tool result', async () => {
    const { service, model } = await startServed({}, answer);
    const client = await connect(service, era, { key: 'limited-key' });
    await client.callTool(toolCall);
    const { isError, content } = await client.callTool(toolCall);
    expect(isError).toBe(true);
    expect(content).toMatchObject([{ text: expect.stringMatching(/Try again after \d+ s\. \(request_limit_exceeded\)$/) }]);
    expect(model.requests).toHaveLength(1);
  });

  it('requires consent and returns where to give it', async () => {
    const { service, model } = await startServed({ consent: { directCalls: 'require' } }, answer);
    const client = await connect(service, era, { id: 'hosted' });
    const { isError, content } = await client.callTool({ ...toolCall, name: 'hosted' });
    expect(isError).toBe(true);
    expect(content).toMatchObject([{ text: expect.stringMatching(/GET \/v1\/consent\/hosted .*\(consent_required\)$/) }]);
    expect(model.requests).toHaveLength(0);
  });

  it('rejects an unknown tool and a call without a query', async () => {
    const { service } = await startServed({}, answer);
    const client = await connect(service, era);
    await expect(client.callTool({ ...toolCall, name: '__proto__' })).rejects.toMatchObject({ code: -32602 });
    for (const args of [undefined, { query: '' }, { query: ['x'] }]) {
      const { isError, content } = await client.callTool({ name: 'model', arguments: args as Record<string, unknown> });
      expect(isError).toBe(true);
      expect(content).toMatchObject([{ text: expect.stringMatching(/^arguments\.query .*\(invalid_request\)$/) }]);
    }
  });

  it('cancels the upstream request if the client cancels, with and without streaming', async () => {
    const { service, model } = await startServed({}, silence);
    const client = await connect(service, era);
    const errors: Error[] = [];
    client.onerror = (error) => errors.push(error);
    for (const [nth, progress] of [{}, { onprogress: () => undefined }].entries()) {
      const controller = new AbortController();
      const called = client.callTool(toolCall, { signal: controller.signal, ...progress });
      const received = await model.request(nth);
      controller.abort();
      await expect(called).rejects.toThrow();
      expect((await received.closed).early).toBe(true);
    }
    // The client would report an error if it received a response to a canceled call.
    expect((await client.listTools()).tools).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('is unavailable for deployments that are unknown, forbidden, or do not support chat', async () => {
    const { service } = await startServed();
    await expect(connect(service, era, { id: 'none' })).rejects.toThrow();
    for (const [id, expected, message] of [
      ['none', '404 deployment_not_found'],
      ['__proto__', '404 deployment_not_found'],
      ['%zz', '404 route_not_found'],
      ['closed', '403 access_denied'],
      ['vectors', '400 operation_not_supported', 'vectors does not support chat completions.'],
      ['speech', '400 operation_not_supported', 'speech does not support chat completions.'],
    ]) {
      const headers = { 'api-key': 'caller-key', 'content-type': 'application/json' };
      const { status, error } = await service.sendRequest({ path: `/v1/deployments/${id}/mcp`, headers, body: {} });
      expect(`${status} ${error.code}`).toBe(expected);
      if (message !== undefined) expect(error.message).toBe(message);
    }
  });
});

it('lets a quick app call another deployment through its MCP server', async () => {
  const { service: other, model: inner } = await startServed({}, answer);
  const authorization = { type: 'api_key', key: 'caller-key', name: 'Api-Key' };
  const { service, model } = await startApp({ url: `${other.url}/v1/deployments/model/mcp`, authorization }, [
    toolCallReply(['model', { query: 'Well?' }]),
    textReply('It says: an answer.'),
  ]);
  const { completion } = await service.chat('app', { messages: hello });
  expect(completion.choices[0]?.message.content).toBe('It says: an answer.');
  expect(getToolResults(model)).toEqual(['An answer.']);
  expect(getMessages(inner, 0)).toEqual([{ role: 'user', content: 'Well?' }]);
});
