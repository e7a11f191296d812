import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { delta, hello, plainReply, text } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import { errorReply, eventsReply, type ScriptedUpstream, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendAndDisconnect } from '#test/send-request.ts';
import { callerKey, startService, type TestService, usersDemoPaceMs } from '#test/start-service.ts';

const telemetry = new RecordedTelemetry();
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  service = await startService(
    {
      models: {
        m: { upstreams: [{ endpoint: upstream.endpoint }] },
        vectors: { type: 'embedding', upstreams: [{ endpoint: upstream.endpoint }] },
        demo: { upstreams: [{ protocol: 'demo' }] },
      },
      applications: { app: { endpoint: `${upstream.url}/app` } },
    },
    { telemetry, demoPaceMs: usersDemoPaceMs },
  );
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

describe('client disconnect', () => {
  it.each(['m', 'app'])('cancels the upstream request of %s before the response head', async (deployment) => {
    upstream.script(silence);
    for (const stream of [false, true]) {
      const index = upstream.requests.length;
      const caller = service.chatAndDisconnect(deployment, { messages: hello, stream });
      const received = await upstream.request(index);
      await expectClosedOnDisconnect(received, () => caller.disconnect());
    }
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'left', status: 499, error: undefined });
  });

  it('cancels the upstream request in the middle of a stream and counts the usage', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'some text that was already sent' }));
    });
    const index = upstream.requests.length;
    const reader = await service.stream('m', { messages: hello });
    await reader.next();
    const received = await upstream.request(index);
    await expectClosedOnDisconnect(received, () => reader.disconnect());
    await telemetry.ended();
    const end = telemetry.ends.at(-1);
    expect(end?.outcome).toBe('left');
    expect(end?.promptTokens).toBeGreaterThan(0);
    expect(end?.completionTokens).toBeGreaterThan(0);
  });

  it('cancels the upstream request in the middle of a folded reply', async () => {
    const isSent = Promise.withResolvers<void>();
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(...plainReply('half').slice(0, 2));
      isSent.resolve();
    });
    const index = upstream.requests.length;
    const caller = service.chatAndDisconnect('m', { messages: hello });
    const received = await upstream.request(index);
    await isSent.promise;
    await expectClosedOnDisconnect(received, () => caller.disconnect());
  });

  it('stops retries between two attempts', async () => {
    upstream.script(errorReply(503));
    const index = upstream.requests.length;
    const caller = service.chatAndDisconnect('m', { messages: hello });
    await upstream.request(index + 1);
    caller.disconnect();
    await telemetry.ended();
    const attempts = upstream.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(upstream.requests.length).toBe(attempts);
    expect(attempts - index).toBeLessThan(5);
    expect(telemetry.ends.at(-1)?.outcome).toBe('left');
  });

  it('ends the call without an upstream request if the request body is incomplete', async () => {
    const index = upstream.requests.length;
    const calls = telemetry.starts.length;
    const { port } = new URL(service.url);
    const path = '/compat/deployments/m/chat/completions/2024-10-21';
    const headers = { 'api-key': callerKey, 'content-type': 'application/json', 'content-length': 1_000 };
    const clientRequest = request({ port, method: 'POST', path, headers, agent: false });
    clientRequest.on('error', () => undefined);
    clientRequest.write('{"messages":');
    await telemetry.untilStarted(calls);
    clientRequest.destroy();
    await telemetry.ended();
    expect(upstream.requests.length).toBe(index);
    expect(telemetry.ends.at(-1)?.outcome).toBe('left');
  });

  it('ends the call if the demo is still replying', async () => {
    const reader = await service.stream('demo', { messages: [{ role: 'user', content: 'Count to 1000' }] });
    await reader.next();
    reader.disconnect();
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'left' });
  });

  it('cancels the upstream request for embeddings', async () => {
    upstream.script(silence);
    const index = upstream.requests.length;
    const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
    const caller = sendAndDisconnect(service.url, {
      path: '/openai/deployments/vectors/embeddings',
      headers,
      body: { input: 'x' },
    });
    const received = await upstream.request(index);
    await expectClosedOnDisconnect(received, () => caller.disconnect());
    await telemetry.ended();
    expect(telemetry.ends.at(-1)?.outcome).toBe('left');
  });

  it('leaves no call in flight', async () => {
    expect(service.inFlightCalls.size).toBe(0);
  });

  it('does not affect other clients', async () => {
    upstream.script(silence, eventsReply(...plainReply('fine')));
    const index = upstream.requests.length;
    const caller = service.chatAndDisconnect('m', { messages: hello, stream: true });
    const received = await upstream.request(index);
    const otherStream = service.stream('m', { messages: hello });
    await expectClosedOnDisconnect(received, () => caller.disconnect());
    expect((await (await otherStream).readRest()).content()).toBe('fine');
  });
});

describe('slow upstream', () => {
  it('sends each event to the client as it arrives', async () => {
    let resume = (): void => undefined;
    upstream.script(async (exchange) => {
      exchange.head();
      for (const content of ['one', 'two', 'three']) {
        await exchange.events(text(content));
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      exchange.done();
    });
    const reader = await service.stream('m', { messages: hello });
    for (const content of ['one', 'two', 'three']) {
      let data = await reader.next();
      while (!data?.includes(content)) data = await reader.next();
      resume();
    }
    expect((await reader.readRest()).isDone).toBe(true);
  });
});
