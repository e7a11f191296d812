import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Completion } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import { startService, type TestService } from '#test/start-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({
    models: { demo: { upstreams: [{ protocol: 'demo' }] }, vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }] } },
  });
});
afterAll(async () => {
  await service.close();
});

const createMessages = (content: string) => [{ role: 'user', content }];

/** Returns the fields of a completion that do not differ between calls. */
function pickStable({ choices, usage, statistics }: Completion): object {
  return { choices, usage, statistics };
}

describe('JSON reply of the demo', () => {
  it.each([
    ['plain text', { messages: createMessages('hello') }],
    ['stages, attachments and controls', { messages: createMessages('Show me everything') }],
    ['several choices', { messages: createMessages('Count to 5'), n: 3 }],
    ['a truncated answer', { messages: createMessages('Count to 50'), max_tokens: 9 }],
  ])('with %s equals the folded stream', async (_what, body) => {
    const { chunks, isDone } = await (await service.stream('demo', body)).readRest();
    const folded = new Accumulator();
    for (const chunk of chunks) folded.add(chunk);
    const { completion } = await service.chat('demo', body);
    expect(isDone).toBe(true);
    expect(pickStable(completion)).toEqual(pickStable(folded.getCompletion()));
    expect(completion.object).toBe('chat.completion');
  });
});

describe('n choices of an upstream that supports one', () => {
  it('are requested separately and have their own indices', async () => {
    const { chunks, content, usages } = await (
      await service.stream('demo', { messages: createMessages('Count to 3'), n: 4 })
    ).readRest();
    for (const choice of [0, 1, 2, 3]) expect(content(choice)).toBe('1 2 3');
    const finished = chunks.flatMap(({ choices }) =>
      choices.filter(({ finish_reason: reason }) => reason !== null).map(({ index }) => index),
    );
    expect(finished.sort()).toEqual([0, 1, 2, 3]);
    expect(
      new Set(chunks.flatMap(({ choices }) => choices.filter(({ delta }) => delta.role).map(({ index }) => index))).size,
    ).toBe(4);
    expect(usages).toHaveLength(1);
    const one = (await service.chat('demo', { messages: createMessages('Count to 3') })).completion.usage;
    expect(usages[0]?.completion_tokens).toBe(4 * (one?.completion_tokens ?? 0));
    expect(chunks.at(-1)?.statistics?.usage_per_model).toMatchObject([{ model: 'demo', total_tokens: usages[0]?.total_tokens }]);
  });
});

describe('completed control', () => {
  /** Returns the conversation after a reply with controls. */
  async function offerControls(): Promise<object[]> {
    const { completion } = await service.chat('demo', { messages: createMessages('Show me controls') });
    const message = completion.choices[0]?.message ?? expect.unreachable();
    expect(message.custom_content?.controls?.map(({ label, index }) => [index, label])).toEqual([
      [0, 'Pick a color'],
      [1, 'Rate this answer'],
    ]);
    return [...createMessages('Show me controls'), message];
  }

  const complete = async (messages: readonly object[], completed_control: object) =>
    service.chat('demo', { messages: [...messages, { role: 'user', content: '', custom_content: { completed_control } }] });

  it('is accepted if it was offered and matches its schema', async () => {
    const messages = await offerControls();
    for (const control of [
      { label: 'Pick a color', value: { color: 'red' } },
      { label: 'Rate this answer', value: { stars: 5, remark: 'fine' } },
    ]) {
      const answer = await complete(messages, control);
      expect(answer.status).toBe(200);
      expect(answer.text).toContain(control.label);
    }
  });

  it('requires no content', async () => {
    const control = { completed_control: { label: 'Pick a color', value: { color: 'blue' } } };
    const answer = await service.chat('demo', {
      messages: [...(await offerControls()), { role: 'user', custom_content: control }],
    });
    expect(answer.status).toBe(200);
  });

  it.each([
    ['another label', { label: 'Pick a number', value: {} }, 'label'],
    ['a label in another case', { label: 'pick a color', value: { color: 'red' } }, 'label'],
    ['a value outside the schema', { label: 'Pick a color', value: { color: 'mauve' } }, 'value'],
    ['a value of another control', { label: 'Pick a color', value: { stars: 3 } }, 'value'],
    ['no value although it is required', { label: 'Pick a color' }, 'value'],
  ])('is rejected with %s', async (_what, control, field) => {
    const messages = await offerControls();
    const answer = await complete(messages, control);
    expect([answer.status, answer.error.code]).toEqual([400, 'control_not_offered']);
    expect(answer.error.param).toBe(`messages[${messages.length}].custom_content.completed_control.${field}`);
  });

  it('is rejected if the last reply offered no controls', async () => {
    const control = { label: 'Pick a color', value: { color: 'red' } };
    expect((await complete([...createMessages('hi'), { role: 'assistant', content: 'hello' }], control)).error.code).toBe(
      'control_not_offered',
    );
    expect(
      (await complete([...(await offerControls()), ...createMessages('hi'), { role: 'assistant', content: 'hello' }], control))
        .status,
    ).toBe(400);
    expect((await complete([], control)).status).toBe(400);
  });
});

describe('embeddings of the demo', () => {
  it('have length 1 and are similar for similar texts', async () => {
    const headers = { 'api-key': 'caller-key', 'content-type': 'application/json' };
    const answer = await service.sendRequest({
      path: '/v1/embeddings',
      headers,
      body: { model: 'vectors', input: ['a cat sleeps', 'a kitten naps', 'tax law'] },
    });
    const { data, usage } = answer.json as { data: { embedding: number[] }[]; usage: { prompt_tokens: number } };
    const [cat = [], kitten = [], law = []] = data.map(({ embedding }) => embedding);
    const dot = (one: number[], other: number[]): number => one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
    expect(dot(cat, cat)).toBeCloseTo(1, 3);
    expect(dot(cat, kitten)).toBeGreaterThan(dot(cat, law));
    expect(usage.prompt_tokens).toBeGreaterThan(0);
  });
});
