import { describe, expect, it } from 'vitest';
import { quickApp, says, startRig } from './support.ts';

describe('a quick app with the required properties only', () => {
  it('sends its instructions and its temperature to the model', async () => {
    await using rig = await startRig({ app: {}, replies: [says('Hello ', 'to you.')] });
    const response = await rig.chat('Hello', { temperature: 2, max_tokens: 50, user: 'u', stop: ['x'] });
    expect(response.completion.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'Hello to you.' }, finish_reason: 'stop' },
    ]);
    expect(rig.model.requests[0]?.body).toEqual({
      model: 'model',
      temperature: 0.25,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello' },
      ],
      ...{ max_tokens: 50, user: 'u', stop: ['x'] },
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('sends no system message if its instructions are empty', async () => {
    await using rig = await startRig({ app: { instructions: '' }, replies: [says('Hello.')] });
    await rig.chat('Hello');
    expect(rig.sent()).toEqual([{ role: 'user', content: 'Hello' }]);
  });

  it('returns n choices from separate runs', async () => {
    await using rig = await startRig({ app: {}, replies: [says('One.'), says('Two.')] });
    const { completion } = await rig.chat('Hello', { n: 2 });
    expect(completion.choices.map(({ index, message }) => [index, message.content]).sort()).toEqual([
      [0, expect.stringMatching(/One|Two/)],
      [1, expect.stringMatching(/One|Two/)],
    ]);
    expect(completion.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 });
  });

  it('returns the reason if its model cannot be reached', async () => {
    await using rig = await startRig({ app: {}, replies: [says('x')], configuration: { applications: { other: quickApp() } } });
    await rig.model.close();
    const { status, error } = await rig.chat('Hello');
    expect([status, error.code]).toEqual([503, 'upstream_unavailable']);
    expect(error.message).toContain('model');
  });
});
