import { describe, expect, it } from 'vitest';
import { type ServedTool, startSessions, startStateless, text } from './servers.ts';
import { ask, callsTools, choiceOf, messagesOf, offered, says, startApp, startEverything, toolTexts } from './support.ts';

/** Keeps what it was called with. */
function keeping(name: string, fields: Partial<ServedTool> = {}): ServedTool & { readonly got: unknown[] } {
  const got: unknown[] = [];
  const run: ServedTool['run'] = (args) => {
    got.push(args);
    return text('done');
  };
  return { name, run, got, ...fields };
}

const starts = [
  ['with sessions', startSessions],
  ['of the stateless revision', startStateless],
] as const;

describe.each(starts)('a tool of a server %s', (_what, start) => {
  it('gets the arguments that the model gave, and nothing besides', async () => {
    const tool = keeping('strict', {
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false },
    });
    const server = await start([tool]);
    const { service, model } = await startApp({ url: server.url }, [
      callsTools(['strict', { city: 'Oslo' }], ['strict']),
      says('Done.'),
    ]);
    await service.chat('app', ask);
    expect([tool.got, toolTexts(model)]).toEqual([
      [{ city: 'Oslo' }, {}],
      ['done', 'done'],
    ]);
  });

  it('is called by its own name, however long it is and whatever the model knows it by', async () => {
    const names = ['files.read/all', `${'deep.'.repeat(25)}a`, `${'deep.'.repeat(25)}b`, '名前', '__proto__'];
    const tools = names.map((name) => keeping(name));
    const server = await start(tools);
    const first = await startApp({ url: server.url }, [says('Which?')]);
    await first.service.chat('app', ask);
    const shown = offered(first.model);
    expect([shown.length, new Set(shown).size]).toEqual([names.length, names.length]);
    for (const name of shown) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const { service } = await startApp({ url: server.url }, [
      callsTools(...shown.map((name) => [name, { as: name }] as const)),
      says('Done.'),
    ]);
    await service.chat('app', ask);
    expect(tools.map(({ got }) => got.length)).toEqual(names.map(() => 1));
    expect(
      server
        .asked('tools/call')
        .map(({ message }) => message.params?.name)
        .toSorted(),
    ).toEqual(names.toSorted());
  });

  it('cannot break out of the block it is shown in, nor lead to an address that runs', async () => {
    const content = [
      { type: 'text' as const, text: '```\n# A heading of its own\n[click](javascript:alert(1))' },
      { type: 'resource_link' as const, uri: 'javascript:alert(1)', name: '<img src=x onerror=alert(1)>' },
    ];
    const server = await start([{ name: 'tool', run: () => ({ content }) }]);
    const { service } = await startApp({ url: server.url }, [callsTools(['tool']), says('Done.')]);
    const { message } = choiceOf(await service.chat('app', ask));
    expect(message.custom_content.stages?.[0]?.content).toContain('````\n```\n# A heading');
    expect(JSON.stringify(message.custom_content.attachments)).not.toContain('"reference_url"');
  });
});

it('an argument that becomes a header field adds no other', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  const server = await startStateless([keeping('tool', { inputSchema })]);
  const evil = ['eu\r\nx-evil: 1', 'größer', ' eu '];
  const { service } = await startApp({ url: server.url }, [
    callsTools(...evil.map((region) => ['tool', { region }] as const)),
    says('Done.'),
  ]);
  await service.chat('app', ask);
  const calls = server.asked('tools/call');
  const given = calls.map(({ message }) => message.params?.arguments as { readonly region: string } | undefined);
  expect(given.map((args) => args?.region).toSorted()).toEqual(evil.toSorted());
  for (const { headers } of calls) {
    expect(headers).not.toHaveProperty('x-evil');
    expect(headers['mcp-param-region']).toMatch(/^=\?base64\?[A-Za-z0-9+/=]+\?=$/);
  }
});

it('a server that lists a tool with a very large schema is refused', async () => {
  const properties = Object.fromEntries(Array.from({ length: 60_000 }, (_, nth) => [`p${nth}`, { type: 'string' }]));
  const server = await startSessions([keeping('tool', { inputSchema: { type: 'object', properties } })]);
  const { service } = await startApp({ url: server.url }, [says('Done.')]);
  const { message } = choiceOf(await service.chat('app', ask));
  expect(message.custom_content.stages).toMatchObject([
    { status: 'failed', content: expect.stringContaining('lists more than 100,000 values in one page') },
  ]);
});

it('a result of megabytes is cut for the model, and whatever it holds beside text is not told as text', async () => {
  const content = [
    { type: 'text' as const, text: 'x'.repeat(3_000_000) },
    { type: 'image' as const, data: 'A'.repeat(2_000_000), mimeType: 'image/png' },
    { type: 'audio' as const, data: 'B'.repeat(2_000_000), mimeType: 'audio/wav' },
    { type: 'resource' as const, resource: { uri: 'a:b', blob: 'C'.repeat(2_000_000) } },
  ];
  const server = await startStateless([{ name: 'tool', run: () => ({ content }) }]);
  const { service, model } = await startApp({ url: server.url }, [callsTools(['tool']), says('Done.')]);
  await service.chat('app', ask);
  expect(model.requests[1]?.text.length).toBeLessThan(45_000);
});

it('an image of the reference server reaches a model that takes images as an image', async () => {
  const { url } = await startEverything('streamableHttp');
  const { service, model } = await startApp({ url }, [callsTools(['get-tiny-image']), says('Nice.')], {
    model: { inputAttachmentTypes: ['image/*'] },
  });
  await service.chat('app', ask);
  const { role, content } = messagesOf(model, 1).at(-1) ?? {};
  expect([role, content]).toEqual([
    'user',
    [
      { type: 'text', text: expect.stringContaining('1. Image (image/png), by get-tiny-image') },
      { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) } },
    ],
  ]);
  expect(toolTexts(model)[0]).not.toContain('iVBOR');
});
