import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { buildOperations, calls, getMessage, quickApp, type Rig, says, startRig, user } from './support.ts';

const keys = { 'caller-key': { project: 'test' }, twin: { project: 'test' }, stranger: { project: 'other' } };
const app = { client_toolset: [{ name: 'ring', description: 'Rings.', parameters: [] }] };
const result = { role: 'function', name: 'ring', content: 'Rang.' };
const question = user('Ring.');

let rig: Rig;
let stopped: { custom_content: { state: { parley_run: string } } };
let signed: string;

beforeAll(async () => {
  const configuration = { keys, applications: { other: quickApp(app) } };
  rig = await startRig({ app, replies: [calls(['ring', {}]), says('Done.')], configuration });
  stopped = getMessage(await rig.chat([question])) as unknown as typeof stopped;
  signed = stopped.custom_content.state.parley_run;
});

afterAll(() => rig[Symbol.asyncDispose]());

const withState = (state: unknown): object => ({ ...stopped, custom_content: { state } });

function sendBack(message: object, deployment = 'app', headers: Record<string, string> = {}): Promise<TestResponse> {
  return rig.service.chat(deployment, { messages: [question, message, result] }, headers);
}

async function expectRejected(message: object, deployment?: string, headers?: Record<string, string>): Promise<void> {
  const before = rig.model.requests.length;
  const { status, error } = await sendBack(message, deployment, headers);
  expect([status, error.code, error.param]).toEqual([400, 'invalid_request', 'messages[1].custom_content.state']);
  expect(rig.model.requests).toHaveLength(before);
}

describe('the state of a run', () => {
  it('is valid for its user and its application with any key of that user', async () => {
    expect((await sendBack(stopped)).status).toBe(200);
    expect((await sendBack(stopped, 'app', { 'api-key': 'twin' })).status).toBe(200);
  });

  it('is rejected for another user', () => expectRejected(stopped, 'app', { 'api-key': 'stranger' }));

  it('is rejected for another application', () => expectRejected(stopped, 'other'));

  it('is rejected if any character of it is changed', async () => {
    const step = Math.ceil(signed.length / 40);
    for (let index = 0; index < signed.length; index += step) {
      const changed = signed[index] === 'A' ? 'B' : 'A';
      await expectRejected(withState({ parley_run: signed.slice(0, index) + changed + signed.slice(index + 1) }));
    }
  });

  it.each<[string, unknown]>([
    ['empty', {}],
    ['a number', { parley_run: 1 }],
    ['without a signature', { parley_run: '' }],
    ['a valid state with an additional key', undefined],
    ['only the separators of its parts', { parley_run: '..' }],
  ])('is rejected if it is %s', async (_description, state) => {
    await expectRejected(withState(state ?? { parley_run: signed, more: true }));
  });

  it('is rejected if its content is forged', async () => {
    const [content = '', ...signature] = signed.split('.');
    const value = JSON.parse(Buffer.from(content, 'base64url').toString()) as Record<string, unknown>;
    const forged = Buffer.from(JSON.stringify({ ...value, added: [], subject: 'key:other' })).toString('base64url');
    await expectRejected(withState({ parley_run: [forged, ...signature].join('.') }), 'app', { 'api-key': 'stranger' });
  });

  it('is valid on every node with the same secret', async () => {
    await using node = await startRig({ app, replies: [says('Done.')] });
    expect((await node.chat([question, stopped, result])).status).toBe(200);
  });
});

describe('the maximum size of a state', () => {
  let api: ScriptedUpstream;

  beforeAll(async () => {
    api = await startScriptedUpstream(({ response }) => void response.end('x'.repeat(39_000)));
  });

  afterAll(() => api.close());

  const getStateLength = (message: object): number => JSON.stringify((message as typeof stopped).custom_content?.state).length;

  it('applies to long results: the oldest are truncated first, which their text shows', async () => {
    const replies = [...Array.from({ length: 12 }, () => calls(['read', {}])), says('Done.'), says('Welcome.')];
    await using ownRig = await startRig({ app: buildOperations(api, 'read'), replies });
    const response = getMessage(await ownRig.chat('Read.'));
    expect(getStateLength(response)).toBeLessThan(90_000);
    await ownRig.chat([user('Read.'), response, user('Thanks.')]);
    const results = ownRig.sent().flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
    expect(results[0]).toBe(`${'x'.repeat(500)}\n[The rest is omitted from the stored conversation.]`);
    expect([results.length, results.at(-1)?.length]).toEqual([12, 39_000]);
  });

  it('applies to content that cannot be truncated: the state then contains only the answer', async () => {
    const longArguments = { text: 'y'.repeat(100_000) };
    const replies = [...Array.from({ length: 6 }, () => calls(['read', longArguments])), says('Done.'), says('Welcome.')];
    await using ownRig = await startRig({ app: buildOperations(api, 'read'), replies });
    const response = getMessage(await ownRig.chat('Read.'));
    expect(getStateLength(response)).toBeLessThan(1000);
    await ownRig.chat([user('Read.'), response, user('Thanks.')]);
    expect(
      ownRig
        .sent()
        .slice(1)
        .map(({ content }) => content),
    ).toEqual(['Read.', 'Done.', 'Thanks.']);
  });

  it('does not apply to a run that waits for its client and must continue', async () => {
    const batch = calls(['ring', { text: 'y'.repeat(400_000) }]);
    await using ownRig = await startRig({ app, replies: [batch, says('Done.')] });
    const waiting = getMessage(await ownRig.chat([question]));
    expect(getStateLength(waiting)).toBeGreaterThan(400_000);
    expect(getMessage(await ownRig.chat([question, waiting, result])).content).toBe('Done.');
  });
});

describe('a control of the model', () => {
  const schema = { type: 'object', properties: { size: { enum: ['S', 'L'] } }, required: ['size'] };
  const offerReply = eventsReply(
    delta({ custom_content: { controls: [{ index: 0, label: 'Size', schema }], state: { inner: 1 } } }),
    text('Which size?'),
    finish(),
  );
  const createChoice = (label: string, value: object) => ({
    role: 'user',
    content: '',
    custom_content: { completed_control: { label, value } },
  });

  it('is relayed, and the choice of the user is checked against its schema', async () => {
    await using ownRig = await startRig({ app: {}, replies: [offerReply, says('Ordered.')] });
    const offer = getMessage(await ownRig.chat('A shirt.'));
    expect(offer.custom_content).toMatchObject({ controls: [{ index: 0, label: 'Size', schema }] });
    const send = (last: object) => ownRig.chat([user('A shirt.'), offer, last]);
    expect((await send(createChoice('Colour', {}))).error).toMatchObject({ code: 'control_not_offered' });
    expect((await send(createChoice('Size', { size: 'XL' }))).error).toMatchObject({ code: 'control_not_offered' });
    expect(getMessage(await send(createChoice('Size', { size: 'L' }))).content).toBe('Ordered.');
    expect(ownRig.sent()[2]).toMatchObject({ role: 'assistant', content: 'Which size?' });
  });
});
