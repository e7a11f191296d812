import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { createStoreError } from '#test/store-error.ts';
import { buildOperations, calls, getMessage, getToolMessages, type Rig, says, startRig, user } from './support.ts';

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream(({ received, response }) => void response.end(createContent(received.path.slice(1))));
});

afterAll(() => api.close());

/** Returns a long text that differs for each name. */
function createContent(name: string): string {
  return `${name} `.repeat(39_000 / (name.length + 1));
}

let index: MemoryFileIndex;
let blobs: MemoryBlobs;
let errors: string[];

beforeEach(() => {
  index = new MemoryFileIndex();
  blobs = new MemoryBlobs();
  errors = [];
});

const names = ['one', 'two', 'three', 'four'];
const callAll = (): Reply => calls(...names.map((name) => [name, {}] as const));
const reportError = (message: string): number => errors.push(message);
const start = (...replies: readonly Reply[]): Promise<Rig> =>
  startRig({ app: buildOperations(api, ...names), replies, options: { files: { index, blobs }, reportError } });
const getState = (message: object): object => (message as { custom_content: { state: object } }).custom_content.state;
const getStateSize = (message: object): number => JSON.stringify(getState(message)).length;
const lostResult = '{"lost":"This text was too long for the conversation and is no longer stored."}';

/** Returns a reply whose run read four long texts. */
async function readAll(rig: Rig): Promise<object> {
  return getMessage(await rig.chat('Read.'));
}

function continueChat(rig: Rig, reply: object) {
  return rig.chat([user('Read.'), reply, user('Thanks.')]);
}

describe('long tool results', () => {
  it('are stored outside the state, which stays small, and are sent to the model completely', async () => {
    await using rig = await start(callAll(), says('Done.'), says('Welcome.'));
    const reply = await readAll(rig);
    expect(getStateSize(reply)).toBeLessThan(88_000);
    expect(index.all).toMatchObject([{ bucket: expect.stringMatching(/^~kept-[0-9a-f]$/), contentType: 'application/json' }]);
    await continueChat(rig, reply);
    expect(getToolMessages(rig)).toEqual(names.map(createContent));
    expect(rig.sent().at(-1)).toEqual({ role: 'user', content: 'Thanks.' });
  });

  it('are available on every node', async () => {
    await using first = await start(callAll(), says('Done.'));
    const reply = await readAll(first);
    await using second = await start(says('Welcome.'));
    await continueChat(second, reply);
    expect(getToolMessages(second)).toEqual(names.map(createContent));
  });

  it('stay in the state if it is small enough', async () => {
    await using rig = await start(calls(['one', {}]), says('Done.'), says('Welcome.'));
    await continueChat(rig, await readAll(rig));
    expect([getToolMessages(rig), index.all]).toEqual([[createContent('one')], []]);
  });

  it('are stored once if they are equal', async () => {
    await using rig = await start(
      calls(...Array.from({ length: 9 }, () => ['one', {}] as const)),
      says('Done.'),
      says('Welcome.'),
    );
    await continueChat(rig, await readAll(rig));
    expect(index.all[0]?.contentLength).toBeLessThan(40_000);
    expect(getToolMessages(rig)).toEqual(Array(9).fill(createContent('one')));
  });

  it('are reported to the model as lost if they are missing in the store', async () => {
    await using rig = await start(callAll(), says('Done.'), says('Welcome.'));
    const reply = await readAll(rig);
    blobs.contents.clear();
    expect(getMessage(await continueChat(rig, reply)).content).toBe('Welcome.');
    const toolMessages = getToolMessages(rig);
    expect(toolMessages.filter((text) => text === lostResult).length).toBeGreaterThanOrEqual(3);
    expect(toolMessages.filter((text) => text !== lostResult)).toEqual(
      names.filter((name) => toolMessages.includes(createContent(name))).map(createContent),
    );
  });

  it('are reported to the model as lost if the stored content is invalid', async () => {
    await using rig = await start(callAll(), says('Done.'), says('Welcome.'));
    const reply = await readAll(rig);
    for (const name of blobs.contents.keys()) blobs.contents.set(name, Buffer.from('{"0":'));
    await continueChat(rig, reply);
    expect(getToolMessages(rig)).toContain(lostResult);
  });

  it('are truncated if they cannot be stored, and the run continues', async () => {
    await using rig = await start(callAll(), says('Done.'), says('Welcome.'));
    blobs.write = () => Promise.reject(createStoreError('unavailable'));
    const reply = await readAll(rig);
    expect([reply, getStateSize(reply) < 88_000]).toEqual([expect.objectContaining({ content: 'Done.' }), true]);
    await continueChat(rig, reply);
    expect(getToolMessages(rig)[0]).toMatch(/^one [\s\S]{496}\n\[The rest is omitted from the stored conversation\.\]$/);
    expect(errors).toEqual(['could not store a text of a conversation']);
  });

  it('cause a 503 error while their store is unavailable, and are complete afterwards', async () => {
    await using rig = await start(callAll(), says('Done.'), says('Welcome.'));
    const reply = await readAll(rig);
    const { read } = blobs;
    blobs.read = () => Promise.reject(createStoreError('unavailable'));
    const rejected = await continueChat(rig, reply);
    expect([rejected.status, rejected.error.code]).toEqual([503, 'overloaded']);
    blobs.read = read;
    await continueChat(rig, reply);
    expect(getToolMessages(rig)).toEqual(names.map(createContent));
  });

  it('from multiple replies are all read from the store', async () => {
    const turns = Array.from({ length: 3 }, () => [callAll(), says('Done.')]).flat();
    await using rig = await start(...turns, says('Welcome.'));
    const messages: object[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      messages.push(user('Read.'));
      messages.push(getMessage(await rig.chat(messages)));
    }
    await rig.chat([...messages, user('Thanks.')]);
    expect([getToolMessages(rig), index.all.length]).toEqual([[...names, ...names, ...names].map(createContent), 3]);
  });
});

describe('a stored text', () => {
  it('is in no bucket of a user, so that no user can read, change, delete, or list it', async () => {
    await using rig = await start(callAll(), says('Done.'));
    await readAll(rig);
    const [file] = index.all;
    if (file === undefined) throw new Error('nothing is kept');
    const headers = { 'api-key': 'caller-key', 'content-type': 'text/plain' };
    const path = `/v1/files/${encodeURIComponent(file.bucket)}/${encodeURIComponent(file.path)}`;
    const folder = `/v1/metadata/files/${encodeURIComponent(file.bucket)}/`;
    const requests = [
      { path, headers, method: 'GET' },
      { path, headers, method: 'DELETE' },
      { path: folder, headers, method: 'GET' },
      { path, headers, method: 'PUT', body: { told: 'something else' } },
    ];
    for (const request of requests)
      expect([request.method, (await rig.service.sendRequest(request)).status]).toEqual([request.method, 403]);
    expect(index.all).toEqual([file]);
  });

  it('is not sent to the model if a user names it in a message', async () => {
    await using rig = await start(callAll(), says('Done.'), says('Welcome.'));
    await readAll(rig);
    const [file] = index.all;
    const [name = ''] = file?.path.split('/') ?? [];
    await rig.chat([user(`${name}:0`), { role: 'assistant', content: `${name}:1` }, user('Thanks.')]);
    expect(rig.model.requests.at(-1)?.text).not.toContain(createContent('one'));
  });
});

describe('a run that waits for its client', () => {
  const ring = { client_toolset: [{ name: 'ring', description: 'Rings.', parameters: [] }] };
  const startRinging = (...replies: readonly Reply[]): Promise<Rig> =>
    startRig({
      app: { ...buildOperations(api, ...names), ...ring },
      replies,
      options: { files: { index, blobs }, reportError },
    });
  const createResult = (text: string): object => ({ role: 'function', name: 'ring', content: text });
  const text = 'y'.repeat(100_000);

  it('continues with all results from its own tools and from the client', async () => {
    const allCalls = [...names.map((name) => [name, {}] as const), ['ring', { text }] as const, ['ring', {}] as const];
    await using rig = await startRinging(calls(...allCalls), says('Done.'));
    const messages = [user('Read and ring.')];
    for (const content of [createContent('first'), createContent('second')]) {
      const waiting = getMessage(await rig.chat(messages));
      expect(waiting).toMatchObject({ function_call: { name: 'ring' } });
      expect(getStateSize(waiting)).toBeLessThan(400_000);
      messages.push(waiting, createResult(content));
    }
    expect(getMessage(await rig.chat(messages)).content).toBe('Done.');
    expect(getToolMessages(rig)).toEqual([...names, 'first', 'second'].map(createContent));
    const [call] =
      rig
        .sent()
        .find(({ tool_calls: toolCalls }) => toolCalls !== undefined)
        ?.tool_calls?.slice(4) ?? [];
    expect(call?.function.arguments).toBe(JSON.stringify({ text }));
  });

  it('continues without lost results, but retains the pending calls', async () => {
    await using rig = await startRinging(calls(...names.map((name) => [name, {}] as const), ['ring', { text }]), says('Done.'));
    const waiting = getMessage(await rig.chat('Read and ring.'));
    expect(waiting.function_call).toEqual({ name: 'ring', arguments: JSON.stringify({ text }) });
    blobs.contents.clear();
    expect(getMessage(await rig.chat([user('Read and ring.'), waiting, createResult('Rang.')])).content).toBe('Done.');
    expect(getToolMessages(rig)).toEqual([lostResult, lostResult, lostResult, lostResult, 'Rang.']);
  });
});
