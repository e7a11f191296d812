import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import {
  errorReply,
  jsonReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
  toEvent,
} from '#test/scripted-upstream.ts';
import { startService } from '#test/start-service.ts';
import { buildOperations, calls, getMessage, getToolMessages, quickApp, type Rig, says, startRig, user } from './support.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const createBytes = (start: string, length = 90): Buffer => Buffer.from(start.padEnd(length, '.'), 'latin1');
/** Content type and bytes of each path. */
const contents: Readonly<Record<string, readonly [type: string, bytes: Buffer]>> = {
  '/draw': ['image/png', Buffer.from(png, 'base64')],
  '/photo': ['application/octet-stream', createBytes('\xff\xd8\xff\xe0\0')],
  '/gif': ['image/png', createBytes('GIF89a')],
  '/webp': ['image/webp', createBytes('RIFF....WEBPVP8 ')],
  '/paper': ['application/pdf', createBytes('%PDF-1.7')],
  '/fake': ['image/png', createBytes('<svg onload="x">\0')],
  '/sound': ['audio/wav', createBytes('RIFF....WAVE')],
  '/huge': ['image/png', createBytes('\x89PNG\r\n\x1a\n', 3_200_000)],
  '/text': ['text/plain', Buffer.from('words')],
};

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream(({ received, response }) => {
    const [type, bytes] = contents[received.path] ?? ['text/plain', Buffer.from('?')];
    response.writeHead(200, { 'content-type': type }).end(bytes);
  });
});

afterAll(() => api.close());

const names = Object.keys(contents).map((path) => path.slice(1));
const app = () => buildOperations(api, ...names);
const callTools = (...tools: string[]): Reply => calls(...tools.map((name) => [name, {}] as const));

/** Starts a quick app whose model accepts attachments of these types. */
function start(types: readonly string[] | undefined, replies: readonly Reply[], fields: object = {}, options = {}): Promise<Rig> {
  const upstream = (endpoint: string) => ({
    upstreams: [{ endpoint }],
    ...(types && { inputAttachmentTypes: types }),
    ...fields,
  });
  return startRig({ app: app(), replies, model: upstream, options });
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
  readonly file?: { readonly file_data: string };
}

/** Returns the message parts that show tool attachments to the model, in the format of OpenAI. */
function getShownParts(rig: Rig): readonly Part[] {
  const { role, content } = rig.sent().at(-1) ?? {};
  return role === 'user' && Array.isArray(content) ? (content as unknown as Part[]) : [];
}

function getShownTypes(rig: Rig): string[] {
  return getShownParts(rig).flatMap(
    ({ image_url: image, file }) => (image?.url ?? file?.file_data ?? '').match(/^data:([^;]+)/)?.[1] ?? [],
  );
}

describe('an image that a tool returns', () => {
  it('is sent to a model that accepts images, in a separate message after the results', async () => {
    await using rig = await start(['image/*'], [callTools('draw', 'text'), says('Nice.')]);
    const reply = getMessage(await rig.chat('Draw.'));
    expect(rig.sent().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user']);
    expect(getToolMessages(rig)).toEqual(['The reply is image/png, 70 bytes. The user was shown it.', 'words']);
    expect(getShownParts(rig)).toEqual([
      { type: 'text', text: 'Shown by tools, not said by the user:\n1. Reply (image/png) (image/png), by draw' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]);
    expect(reply.custom_content?.attachments).toMatchObject([{ type: 'image/png', data: png }]);
  });

  it.each([
    ['declares no types', undefined, {}],
    ['accepts other types', ['audio/wav', 'image/jpeg'], {}],
    ['accepts no attachments', ['image/*'], { maxInputAttachments: 0 }],
  ])('is described as text to a model that %s', async (_description, types, fields) => {
    await using rig = await start(types, [callTools('draw'), says('Nice.')], fields);
    await rig.chat('Draw.');
    expect(rig.sent().at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('The user was shown it.') });
    expect(rig.model.requests.at(-1)?.text).not.toContain(png.slice(0, 40));
  });

  it('is sent with its actual type instead of the declared one, and other content is not sent', async () => {
    await using rig = await start(['*/*'], [callTools('photo', 'gif', 'webp', 'paper', 'fake', 'sound', 'text'), says('Nice.')]);
    await rig.chat('Draw.');
    expect(getShownTypes(rig)).toEqual(['image/jpeg', 'image/gif', 'image/webp', 'application/pdf']);
  });

  it('is limited in size and number', async () => {
    await using rig = await start(['image/*'], [callTools('huge', ...Array<string>(9).fill('draw')), says('Nice.')]);
    await rig.chat('Draw.');
    expect(getShownTypes(rig)).toEqual(Array(8).fill('image/png'));
    expect(rig.model.requests.at(-1)?.text.length).toBeLessThan(20_000);
    await using limited = await start(['image/*'], [callTools('draw', 'draw', 'draw'), says('Nice.')], {
      maxInputAttachments: 2,
    });
    await limited.chat('Draw.');
    expect(getShownTypes(limited)).toHaveLength(2);
  });

  it('is omitted if the model rejects it, and the run continues', async () => {
    await using rig = await start(
      ['image/*'],
      [callTools('draw'), errorReply(400), callTools('draw'), errorReply(413), says('Without.')],
    );
    expect(getMessage(await rig.chat('Draw.')).content).toBe('Without.');
    expect(rig.model.requests.map(({ text }) => text.includes(png))).toEqual([false, true, false, true, false]);
  });

  it('does not affect an error that occurs again without it', async () => {
    await using rig = await start(['image/*'], [callTools('draw'), errorReply(400)]);
    const { status, error } = await rig.chat('Draw.');
    expect([status, error.message, rig.model.requests.length]).toEqual([400, 'upstream says 400', 3]);
  });
});

describe('an image in the next request', () => {
  const files = () => ({ files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } });

  it('is sent again from the store', async () => {
    const large = createBytes('\x89PNG\r\n\x1a\n', 90_000);
    await using api = await startScriptedUpstream(
      ({ response }) => void response.writeHead(200, { 'content-type': 'image/png' }).end(large),
    );
    const { blobs, index } = files().files;
    const upstream = (endpoint: string) => ({ upstreams: [{ endpoint }], inputAttachmentTypes: ['image/png'] });
    const replies = [callTools('draw'), says('Nice.'), says('Red.'), says('Gone.')];
    await using rig = await startRig({
      app: buildOperations(api, 'draw'),
      replies,
      model: upstream,
      options: { files: { blobs, index } },
    });
    const reply = getMessage(await rig.chat('Draw.'));
    expect(JSON.stringify((reply.custom_content as { state?: object }).state).length).toBeLessThan(10_000);
    const nextMessages = [user('Draw.'), reply, user('What colour is it?')];
    await rig.chat(nextMessages);
    expect(rig.sent().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'assistant', 'user']);
    expect(JSON.stringify(rig.sent()[4])).toContain(large.toString('base64'));
    blobs.contents.clear();
    await rig.chat(nextMessages);
    expect(rig.sent().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('is omitted if no store is configured', async () => {
    const large = createBytes('\x89PNG\r\n\x1a\n', 90_000);
    await using api = await startScriptedUpstream(
      ({ response }) => void response.writeHead(200, { 'content-type': 'image/png' }).end(large),
    );
    const upstream = (endpoint: string) => ({ upstreams: [{ endpoint }], inputAttachmentTypes: ['image/png'] });
    await using rig = await startRig({
      app: buildOperations(api, 'draw'),
      replies: [callTools('draw'), says('Nice.'), says('Red.')],
      model: upstream,
    });
    const reply = getMessage(await rig.chat('Draw.'));
    await rig.chat([user('Draw.'), reply, user('What colour is it?')]);
    expect(rig.sent().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  });
});

describe('an image for models of other vendors', () => {
  let model: ScriptedUpstream;

  beforeEach(async () => {
    model = await startScriptedUpstream();
    return () => model.close();
  });

  async function drawWith(upstream: object, ...replies: readonly Reply[]): Promise<unknown> {
    model.script(...replies);
    await using service = await startService({
      models: { model: { upstreams: [upstream], inputAttachmentTypes: ['image/*'] } },
      applications: { app: quickApp(app()) },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    });
    expect((await service.chat('app', { messages: [user('Draw.')] })).status).toBe(200);
    return model.requests.at(-1)?.body;
  }

  it('follows the result in the same turn of the Messages API', async () => {
    const reply = (content: object, stop_reason: string): Reply =>
      jsonReply({
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude' },
        content: [content],
        stop_reason,
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    const body = await drawWith(
      { protocol: 'anthropic', endpoint: model.endpoint, key: 'k' },
      reply({ type: 'tool_use', id: 'toolu_1', name: 'draw', input: {} }, 'tool_use'),
      reply({ type: 'text', text: 'Nice.' }, 'end_turn'),
    );
    expect((body as { messages: object[] }).messages.at(-1)).toMatchObject({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1' },
        { type: 'text', text: expect.stringContaining('by draw') },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      ],
    });
  });

  it('follows the function response as inline data with Gemini', async () => {
    const reply =
      (part: object): Reply =>
      ({ response }) => {
        const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 };
        const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(toEvent({ candidates: [candidate], usageMetadata }));
      };
    const body = await drawWith(
      { protocol: 'gemini', endpoint: `${model.url}/v1beta`, key: 'k', model: 'gemini-3-pro' },
      reply({ functionCall: { name: 'draw', args: {} } }),
      reply({ text: 'Nice.' }),
    );
    const parts = (body as { contents: { parts: object[] }[] }).contents.flatMap((content) => content.parts);
    expect(parts.slice(-3)).toMatchObject([
      { functionResponse: { name: 'draw' } },
      { text: expect.stringContaining('by draw') },
      { inlineData: { mimeType: 'image/png', data: png } },
    ]);
  });
});
