import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import { type ScriptedUpstream, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  service = await startService({ models: { model: { upstreams: [{ endpoint: upstream.endpoint }] } } });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

it('accepts a gzip-encoded upstream reply although the request has no Accept-Encoding', async () => {
  upstream.script(({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(plainCompletion('hi'))));
  });
  expect((await service.chat('model', { messages: hello })).completion.choices[0]?.message.content).toBe('hi');
});

it('accepts a brotli-encoded upstream stream', async () => {
  upstream.script(({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'br' });
    response.end(brotliCompressSync(`${plainReply('hi').map(toEvent).join('')}data: [DONE]\n\n`));
  });
  const streamed = await (await service.stream('model', { messages: hello })).readRest();
  expect([
    streamed
      .deltas()
      .map(({ content }) => content ?? '')
      .join(''),
    streamed.isDone,
  ]).toEqual(['hi', true]);
});

it('forwards the message of a gzip-encoded upstream error', async () => {
  upstream.script(({ response }) => {
    response.writeHead(400, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify({ error: { message: 'no such tool', code: 'x' } })));
  });
  const rejection = await service.chat('model', { messages: hello });
  expect([rejection.status, rejection.error.message]).toEqual([400, expect.stringContaining('no such tool')]);
});
