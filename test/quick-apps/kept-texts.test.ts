import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { createStoreError } from '#test/store-error.ts';
import { calls, messageOf, operationsOf, type Rig, says, startRig, toldTo, user } from './support.ts';

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream(({ received, response }) => void response.end(contentOf(received.path.slice(1))));
});

afterAll(() => api.close());

/** Long, and another for each name. */
function contentOf(name: string): string {
  return `${name} `.repeat(39_000 / (name.length + 1));
}

let index: MemoryFileIndex;
let blobs: MemoryBlobs;
let faults: string[];

beforeEach(() => {
  index = new MemoryFileIndex();
  blobs = new MemoryBlobs();
  faults = [];
});

const names = ['one', 'two', 'three', 'four'];
const readsAll = (): Reply => calls(...names.map((name) => [name, {}] as const));
const noteFault = (message: string): number => faults.push(message);
const start = (...replies: readonly Reply[]): Promise<Rig> =>
  startRig({ app: operationsOf(api, ...names), replies, options: { files: { index, blobs }, reportError: noteFault } });
const stateOf = (message: object): object => (message as { custom_content: { state: object } }).custom_content.state;
const sizeOf = (message: object): number => JSON.stringify(stateOf(message)).length;
const lost = '{"lost":"What stood here was too long to be sent to and fro, and is not kept any more."}';

/** A reply whose run read four long texts. */
async function readIn(rig: Rig): Promise<object> {
  return messageOf(await rig.chat('Read.'));
}

function goOn(rig: Rig, reply: object) {
  return rig.chat([user('Read.'), reply, user('Thanks.')]);
}

describe('long results of tools', () => {
  it('are kept beside a state, which stays small, and given back to the model whole', async () => {
    await using rig = await start(readsAll(), says('Done.'), says('Welcome.'));
    const reply = await readIn(rig);
    expect(sizeOf(reply)).toBeLessThan(88_000);
    expect(index.all).toMatchObject([{ bucket: expect.stringMatching(/^~kept-[0-9a-f]$/), contentType: 'application/json' }]);
    await goOn(rig, reply);
    expect(toldTo(rig)).toEqual(names.map(contentOf));
    expect(rig.sent().at(-1)).toEqual({ role: 'user', content: 'Thanks.' });
  });

  it('are given back on every node', async () => {
    await using one = await start(readsAll(), says('Done.'));
    const reply = await readIn(one);
    await using other = await start(says('Welcome.'));
    await goOn(other, reply);
    expect(toldTo(other)).toEqual(names.map(contentOf));
  });

  it('stay in a state that is small enough', async () => {
    await using rig = await start(calls(['one', {}]), says('Done.'), says('Welcome.'));
    await goOn(rig, await readIn(rig));
    expect([toldTo(rig), index.all]).toEqual([[contentOf('one')], []]);
  });

  it('are kept once where they are the same', async () => {
    await using rig = await start(
      calls(...Array.from({ length: 9 }, () => ['one', {}] as const)),
      says('Done.'),
      says('Welcome.'),
    );
    await goOn(rig, await readIn(rig));
    expect(index.all[0]?.contentLength).toBeLessThan(40_000);
    expect(toldTo(rig)).toEqual(Array(9).fill(contentOf('one')));
  });

  it('that are gone are told to the model as lost', async () => {
    await using rig = await start(readsAll(), says('Done.'), says('Welcome.'));
    const reply = await readIn(rig);
    blobs.contents.clear();
    expect(messageOf(await goOn(rig, reply)).content).toBe('Welcome.');
    const told = toldTo(rig);
    expect(told.filter((text) => text === lost).length).toBeGreaterThanOrEqual(3);
    expect(told.filter((text) => text !== lost)).toEqual(names.filter((name) => told.includes(contentOf(name))).map(contentOf));
  });

  it('that are nonsense are told as lost', async () => {
    await using rig = await start(readsAll(), says('Done.'), says('Welcome.'));
    const reply = await readIn(rig);
    for (const name of blobs.contents.keys()) blobs.contents.set(name, Buffer.from('{"0":'));
    await goOn(rig, reply);
    expect(toldTo(rig)).toContain(lost);
  });

  it('are cut where they cannot be kept, and the call goes on', async () => {
    await using rig = await start(readsAll(), says('Done.'), says('Welcome.'));
    blobs.write = () => Promise.reject(createStoreError('away'));
    const reply = await readIn(rig);
    expect([reply, sizeOf(reply) < 88_000]).toEqual([expect.objectContaining({ content: 'Done.' }), true]);
    await goOn(rig, reply);
    expect(toldTo(rig)[0]).toMatch(/^one [\s\S]{496}\n\[The rest was left out of what is remembered\.\]$/);
    expect(faults).toEqual(['Could not store a text of a conversation']);
  });

  it('are waited for while their store is away: the call is refused, and nothing lost', async () => {
    await using rig = await start(readsAll(), says('Done.'), says('Welcome.'));
    const reply = await readIn(rig);
    const { read } = blobs;
    blobs.read = () => Promise.reject(createStoreError('away'));
    const refused = await goOn(rig, reply);
    expect([refused.status, refused.error.code]).toEqual([503, 'overloaded']);
    blobs.read = read;
    await goOn(rig, reply);
    expect(toldTo(rig)).toEqual(names.map(contentOf));
  });

  it('of many replies are read as far as there is room, the newest first', async () => {
    const turns = Array.from({ length: 3 }, () => [readsAll(), says('Done.')]).flat();
    await using rig = await start(...turns, says('Welcome.'));
    const messages: object[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      messages.push(user('Read.'));
      messages.push(messageOf(await rig.chat(messages)));
    }
    await rig.chat([...messages, user('Thanks.')]);
    expect([toldTo(rig), index.all.length]).toEqual([[...names, ...names, ...names].map(contentOf), 3]);
  });
});

describe('a text that is kept', () => {
  it('is in no bucket of a user: nobody reads, changes, deletes or lists it', async () => {
    await using rig = await start(readsAll(), says('Done.'));
    await readIn(rig);
    const [file] = index.all;
    if (file === undefined) throw new Error('nothing is kept');
    const headers = { 'api-key': 'caller-key', 'content-type': 'text/plain' };
    const path = `/v1/files/${encodeURIComponent(file.bucket)}/${encodeURIComponent(file.path)}`;
    const folder = `/v1/metadata/files/${encodeURIComponent(file.bucket)}/`;
    const asked = [
      { path, headers, method: 'GET' },
      { path, headers, method: 'DELETE' },
      { path: folder, headers, method: 'GET' },
      { path, headers, method: 'PUT', body: { told: 'something else' } },
    ];
    for (const each of asked) expect([each.method, (await rig.service.sendRequest(each)).status]).toEqual([each.method, 403]);
    expect(index.all).toEqual([file]);
  });

  it('is not handed on to those who name it in a request', async () => {
    await using rig = await start(readsAll(), says('Done.'), says('Welcome.'));
    await readIn(rig);
    const [file] = index.all;
    const [name = ''] = file?.path.split('/') ?? [];
    await rig.chat([user(`${name}:0`), { role: 'assistant', content: `${name}:1` }, user('Thanks.')]);
    expect(rig.model.requests.at(-1)?.text).not.toContain(contentOf('one'));
  });
});

describe('a run that waits for its caller', () => {
  const ring = { client_toolset: [{ name: 'ring', description: 'Rings.', parameters: [] }] };
  const startRinging = (...replies: readonly Reply[]): Promise<Rig> =>
    startRig({
      app: { ...operationsOf(api, ...names), ...ring },
      replies,
      options: { files: { index, blobs }, reportError: noteFault },
    });
  const rang = (text: string): object => ({ role: 'function', name: 'ring', content: text });
  const text = 'y'.repeat(100_000);

  it('goes on with all its results, its own and those it was given', async () => {
    const all = [...names.map((name) => [name, {}] as const), ['ring', { text }] as const, ['ring', {}] as const];
    await using rig = await startRinging(calls(...all), says('Done.'));
    const messages = [user('Read and ring.')];
    for (const given of [contentOf('first'), contentOf('second')]) {
      const waiting = messageOf(await rig.chat(messages));
      expect(waiting).toMatchObject({ function_call: { name: 'ring' } });
      expect(sizeOf(waiting)).toBeLessThan(400_000);
      messages.push(waiting, rang(given));
    }
    expect(messageOf(await rig.chat(messages)).content).toBe('Done.');
    expect(toldTo(rig)).toEqual([...names, 'first', 'second'].map(contentOf));
    const [call] =
      rig
        .sent()
        .find(({ tool_calls: asked }) => asked !== undefined)
        ?.tool_calls?.slice(4) ?? [];
    expect(call?.function.arguments).toBe(JSON.stringify({ text }));
  });

  it('can do without what is gone, but for the calls it still has to make', async () => {
    await using rig = await startRinging(calls(...names.map((name) => [name, {}] as const), ['ring', { text }]), says('Done.'));
    const waiting = messageOf(await rig.chat('Read and ring.'));
    expect(waiting.function_call).toEqual({ name: 'ring', arguments: JSON.stringify({ text }) });
    blobs.contents.clear();
    expect(messageOf(await rig.chat([user('Read and ring.'), waiting, rang('Rang.')])).content).toBe('Done.');
    expect(toldTo(rig)).toEqual([lost, lost, lost, lost, 'Rang.']);
  });
});
