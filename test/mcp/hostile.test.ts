import { describe, expect, it } from 'vitest';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { instead, type ServedTool, startSessions, startStateless, text } from './servers.ts';
import {
  chatRequest,
  getChoice,
  getMessages,
  getOfferedTools,
  getToolResults,
  startApp,
  startEverything,
  textReply,
  toolCallReply,
} from './support.ts';

/** Creates a tool that records the arguments of its calls. */
function recordingTool(name: string, fields: Partial<ServedTool> = {}): ServedTool & { readonly received: unknown[] } {
  const received: unknown[] = [];
  const run: ServedTool['run'] = (args) => {
    received.push(args);
    return text('done');
  };
  return { name, run, received, ...fields };
}

const starts = [
  ['with sessions', startSessions],
  ['of the stateless revision', startStateless],
] as const;

describe.each(starts)('a tool of an MCP server %s', (_what, start) => {
  it('receives exactly the arguments of the model', async () => {
    const tool = recordingTool('strict', {
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false },
    });
    const server = await start([tool]);
    const { service, model } = await startApp({ url: server.url }, [
      toolCallReply(['strict', { city: 'Oslo' }], ['strict']),
      textReply('Done.'),
    ]);
    await service.chat('app', chatRequest);
    expect([tool.received, getToolResults(model)]).toEqual([
      [{ city: 'Oslo' }, {}],
      ['done', 'done'],
    ]);
  });

  it('is called by its original name even if the model sees a shortened or sanitized name', async () => {
    const names = ['files.read/all', `${'deep.'.repeat(25)}a`, `${'deep.'.repeat(25)}b`, '名前', '__proto__'];
    const tools = names.map((name) => recordingTool(name));
    const server = await start(tools);
    const first = await startApp({ url: server.url }, [textReply('Which?')]);
    await first.service.chat('app', chatRequest);
    const offeredNames = getOfferedTools(first.model);
    expect([offeredNames.length, new Set(offeredNames).size]).toEqual([names.length, names.length]);
    for (const name of offeredNames) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const { service } = await startApp({ url: server.url }, [
      toolCallReply(...offeredNames.map((name) => [name, { as: name }] as const)),
      textReply('Done.'),
    ]);
    await service.chat('app', chatRequest);
    expect(tools.map(({ received }) => received.length)).toEqual(names.map(() => 1));
    expect(
      server
        .asked('tools/call')
        .map(({ message }) => message.params?.name)
        .toSorted(),
    ).toEqual(names.toSorted());
  });

  it('cannot break out of its code block in the stage or attach a javascript: link', async () => {
    const content = [
      { type: 'text' as const, text: '```\n# A heading of its own\n[click](javascript:alert(1))' },
      { type: 'resource_link' as const, uri: 'javascript:alert(1)', name: '<img src=x onerror=alert(1)>' },
    ];
    const server = await start([{ name: 'tool', run: () => ({ content }) }]);
    const { service } = await startApp({ url: server.url }, [toolCallReply(['tool']), textReply('Done.')]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(message.custom_content.stages?.[0]?.content).toContain('````\n```\n# A heading');
    expect(JSON.stringify(message.custom_content.attachments)).not.toContain('"reference_url"');
  });
});

it('does not let a model inject a header field through an argument that is sent as a header field', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  const server = await startStateless([recordingTool('tool', { inputSchema })]);
  const evil = ['eu\r\nx-evil: 1', 'größer', ' eu '];
  const { service } = await startApp({ url: server.url }, [
    toolCallReply(...evil.map((region) => ['tool', { region }] as const)),
    textReply('Done.'),
  ]);
  await service.chat('app', chatRequest);
  const calls = server.asked('tools/call');
  const callArguments = calls.map(({ message }) => message.params?.arguments as { readonly region: string } | undefined);
  expect(callArguments.map((args) => args?.region).toSorted()).toEqual(evil.toSorted());
  for (const { headers } of calls) {
    expect(headers).not.toHaveProperty('x-evil');
    expect(headers['mcp-param-region']).toMatch(/^=\?base64\?[A-Za-z0-9+/=]+\?=$/);
  }
});

describe('a server that sends messages before its answer', () => {
  /** Starts an app whose tool is called once. The server sends `count` messages and then the result `done`. */
  async function callTool(count: number, message: (nth: number) => object) {
    const before = instead('tools/call', (id) => {
      const messages = [...Array(count).keys()].map((nth) => ({ jsonrpc: '2.0', ...message(nth) }));
      const events = [...messages, { jsonrpc: '2.0', id, result: text('done') }].map(
        (data) => `data: ${JSON.stringify(data)}\n\n`,
      );
      return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
    });
    const server = await startSessions([recordingTool('tool')], { before });
    // The measurement may be repeated twice.
    const replies = [1, 2, 3].flatMap(() => [toolCallReply(['tool']), textReply('Done.')]);
    const { service } = await startApp({ url: server.url }, replies);
    let content: string | undefined;
    const blockedMs = await measureMinEventLoopBlock(250, async () => {
      const { message: reply } = getChoice(await service.chat('app', chatRequest));
      content = reply.custom_content.stages?.[0]?.content;
    });
    return { content, blockedMs };
  }
  const ping = (nth: number): object => ({ id: `ping-${nth}`, method: 'ping' });

  it('gets an answer to each of 40 requests', async () => {
    expect((await callTool(40, ping)).content).toContain('done');
  });

  it('loses the connection if it sends thousands of requests', async () => {
    const { content, blockedMs } = await callTool(5_000, ping);
    expect(content).toContain('sent more than 50 concurrent requests');
    expect(blockedMs).toBeLessThan(250);
  });
});

it('rejects a tool list with a very large schema', async () => {
  const properties = Object.fromEntries(Array.from({ length: 60_000 }, (_, nth) => [`p${nth}`, { type: 'string' }]));
  const server = await startSessions([recordingTool('tool', { inputSchema: { type: 'object', properties } })]);
  const { service } = await startApp({ url: server.url }, [textReply('Done.')]);
  const { message } = getChoice(await service.chat('app', chatRequest));
  expect(message.custom_content.stages).toMatchObject([
    { status: 'failed', content: expect.stringContaining('lists more than 100,000 values in one page') },
  ]);
});

it('rejects a list whose pages together are larger than 16 MiB before its last page', async () => {
  const description = 'x'.repeat(1_000_000);
  const tools = Array.from({ length: 40 }, (_, nth): ServedTool => ({ name: `tool${nth}`, description, run: () => text('') }));
  const server = await startSessions(tools, { pageSize: 1 });
  const { service } = await startApp({ url: server.url }, [textReply('Done.')]);
  const { message } = getChoice(await service.chat('app', chatRequest));
  expect(message.custom_content.stages?.[0]?.content).toContain('sends lists of more than 16 MiB');
  expect(server.asked('tools/list').length).toBeLessThan(20);
});

it('truncates a result of multiple megabytes for the model and omits its binary parts', async () => {
  const content = [
    { type: 'text' as const, text: 'x'.repeat(3_000_000) },
    { type: 'image' as const, data: 'A'.repeat(2_000_000), mimeType: 'image/png' },
    { type: 'audio' as const, data: 'B'.repeat(2_000_000), mimeType: 'audio/wav' },
    { type: 'resource' as const, resource: { uri: 'a:b', blob: 'C'.repeat(2_000_000) } },
  ];
  const server = await startStateless([{ name: 'tool', run: () => ({ content }) }]);
  const { service, model } = await startApp({ url: server.url }, [toolCallReply(['tool']), textReply('Done.')]);
  await service.chat('app', chatRequest);
  expect(model.requests[1]?.text.length).toBeLessThan(45_000);
});

it('passes an image of the reference server as an image to a model that accepts images', async () => {
  const { url } = await startEverything('streamableHttp');
  const { service, model } = await startApp({ url }, [toolCallReply(['get-tiny-image']), textReply('Nice.')], {
    model: { inputAttachmentTypes: ['image/*'] },
  });
  await service.chat('app', chatRequest);
  const { role, content } = getMessages(model, 1).at(-1) ?? {};
  expect([role, content]).toEqual([
    'user',
    [
      { type: 'text', text: expect.stringContaining('1. Image (image/png), by get-tiny-image') },
      { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) } },
    ],
  ]);
  expect(getToolResults(model)[0]).not.toContain('iVBOR');
});
