import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { errorReply, type Reply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startGateway } from './support.ts';

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};

const events = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];

/** Replies like the Messages API, with a stream if the request asks for one. */
const replyWithMessage: Reply = ({ received, response }) => {
  if (received.body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(message));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
};

const messageRequest = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hi' }] };

/** Creates the Anthropic client as an add-in uses it. */
function createClient(url: string, credentials: { apiKey: string } | { authToken: string } = { apiKey: 'the-key' }): Anthropic {
  return new Anthropic({
    apiKey: null,
    authToken: null,
    ...credentials,
    baseURL: `${url}/msgapi`,
    dangerouslyAllowBrowser: true,
    maxRetries: 0,
  });
}

describe('the Anthropic SDK', () => {
  it('sends a message', async () => {
    await using upstream = await startScriptedUpstream(replyWithMessage);
    await using gateway = await startGateway(upstream.url);
    const { content } = await createClient(gateway.url).messages.create(messageRequest);
    expect(content).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(upstream.requests[0]?.headers).toMatchObject({
      'api-key': 'the-key',
      'x-api-key': '',
      'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    });
    expect(upstream.requests[0]?.body).toEqual(messageRequest);
  });

  it('can send its key as a bearer token', async () => {
    await using upstream = await startScriptedUpstream(replyWithMessage);
    await using gateway = await startGateway(upstream.url);
    await createClient(gateway.url, { authToken: 'the-token' }).messages.create(messageRequest);
    const { headers } = await upstream.request(0);
    expect([headers['api-key'], headers['x-api-key'], headers.authorization]).toEqual(['the-token', '', undefined]);
  });

  it('reads a stream', async () => {
    await using upstream = await startScriptedUpstream(replyWithMessage);
    await using gateway = await startGateway(upstream.url);
    const final = await createClient(gateway.url).messages.stream(messageRequest).finalMessage();
    expect(final.content).toMatchObject([{ type: 'text', text: 'Hello' }]);
  });

  it('lists the models', async () => {
    const models = [{ id: 'gpt', display_name: 'GPT' }];
    await using gateway = await startGateway('http://127.0.0.1:9', { models });
    const ids: string[] = [];
    for await (const { id } of createClient(gateway.url).models.list()) ids.push(id);
    expect(ids).toEqual(['gpt']);
  });

  it('recognizes upstream and gateway errors by their class', async () => {
    await using upstream = await startScriptedUpstream(errorReply(401));
    await using gateway = await startGateway(upstream.url);
    await expect(createClient(gateway.url).messages.create(messageRequest)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await using unconnected = await startGateway('http://127.0.0.1:9');
    const failure = await createClient(unconnected.url)
      .messages.create(messageRequest)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Anthropic.InternalServerError);
    expect(failure).toMatchObject({ status: 502, error: { type: 'error', error: { type: 'api_error' } } });
  });
});
