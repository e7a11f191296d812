import { describe, expect, it } from 'vitest';
import { AnswerFold, toReply } from './fold-answer.ts';

const answer = {
  ...{ id: 'resp_1', model: 'm', created_at: 5, output: [], error: null, incomplete_details: null },
  status: 'in_progress' as const,
};
const createMessage = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] });

describe('AnswerFold', () => {
  it('joins the deltas of each item, and replaces them with the completed item', () => {
    const fold = new AnswerFold();
    fold.add({ type: 'response.created', sequence_number: 0 });
    fold.add({ type: 'response.output_text.delta', output_index: 1, delta: 'He' });
    fold.add({ type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Let me ' });
    fold.add({ type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'think.' });
    fold.add({ type: 'response.output_text.delta', output_index: 1, delta: 'llo' });
    expect(toReply(answer, fold.items)).toMatchObject({ state: 'running', text: 'Hello', thoughts: 'Let me think.' });
    fold.add({ type: 'response.output_item.done', output_index: 1, item: createMessage('Hello!') });
    fold.add({ type: 'response.refusal.delta', output_index: 2, delta: 'I will not.' });
    expect(toReply(answer, fold.items).text).toBe('Hello!\n\nI will not.');
  });
});

describe('toReply', () => {
  it.each([
    ['completed', {}, { state: 'done' }],
    ['cancelled', {}, { state: 'stopped' }],
    ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, { state: 'done', finish: 'length' }],
    ['incomplete', { incomplete_details: { reason: 'content_filter' } }, { state: 'done', finish: 'content_filter' }],
    [
      'failed',
      { error: { code: 'server_error', message: 'It broke.' } },
      { state: 'failed', fault: { code: 'server_error', message: 'It broke.' } },
    ],
  ] as const)('maps the status %s to %j', (status, fields, expected) => {
    expect(toReply({ ...answer, ...fields, status, output: [createMessage('So far')] })).toMatchObject({
      text: 'So far',
      ...expected,
    });
  });

  it('converts the stages, attachments, and function call of the output', () => {
    const output = [
      { type: 'parley:stage', id: 'ps_1', status: 'completed', name: 'Looked', content: 'it up', attachments: [] },
      { type: 'function_call', name: 'lookup', arguments: '{}' },
      { type: 'parley:attachment', id: 'pa_1', content_type: 'image/png', title: 'Chart', url: 'files/b/c.png' },
    ];
    expect(toReply({ ...answer, status: 'completed', output })).toMatchObject({
      functionCall: { name: 'lookup' },
      custom: {
        attachments: [{ index: 0, type: 'image/png', title: 'Chart', url: 'files/b/c.png' }],
        stages: [{ index: 0, name: 'Looked', content: 'it up', status: 'completed' }],
      },
    });
  });
});
