import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { applyAnswer, toQuestion } from './elicitation.ts';

const createResult = (request: object, requestState?: string): InputRequiredResult =>
  ({ resultType: 'input_required', inputRequests: { key: request }, requestState }) as unknown as InputRequiredResult;

describe('toQuestion', () => {
  it('uses an object schema if the server sent none', () => {
    expect(toQuestion('Tools', createResult({ method: 'elicitation/create', params: { message: 'Sure?' } }))).toMatchObject({
      label: 'Answer Tools',
      message: '**Tools** asks: Sure?',
      schema: { type: 'object', properties: {} },
    });
  });

  it.each([
    ['a sampling request', { method: 'sampling/createMessage', params: {} }],
    ['a request for roots', { method: 'roots/list' }],
    [
      'a request to visit a page',
      { method: 'elicitation/create', params: { mode: 'url', url: 'https://host/', message: 'Sign in' } },
    ],
    ['an unreadable request', 'x'],
  ])('rejects %s', (_what, request) => {
    expect(() => toQuestion('Tools', createResult(request as object))).toThrow(
      'asks its client for data that Parley cannot give',
    );
  });

  it('rejects a state that is too long and too many questions', () => {
    const question = { method: 'elicitation/create', params: { message: 'Sure?' } };
    expect(() => toQuestion('Tools', createResult(question, 'x'.repeat(70_000)))).toThrow(
      'sends a requestState of more than 65536 characters',
    );
    const inputRequests = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${index}`, question]));
    expect(() => toQuestion('Tools', { ...createResult(question), inputRequests } as InputRequiredResult)).toThrow(
      'more than 10 questions',
    );
  });

  it('truncates a long message', () => {
    const long = { method: 'elicitation/create', params: { message: 'x'.repeat(5000) } };
    expect(toQuestion('Tools', createResult(long))?.message.length).toBeLessThan(2100);
  });
});

describe('applyAnswer', () => {
  const properties = {
    name: { type: 'string', default: 'Ada' },
    sure: { type: 'boolean', default: false },
    age: { type: 'integer' },
  };
  const params = { message: 'Who?', requestedSchema: { type: 'object', properties } };
  const { resume = {} } = toQuestion('Tools', createResult({ method: 'elicitation/create', params })) ?? {};

  it.each([
    ['an empty answer', {}, { name: 'Ada', sure: false }],
    ['a partial answer', { name: '', age: 7 }, { name: '', sure: false, age: 7 }],
  ])("completes %s with the server's defaults", (_what, value, content) => {
    expect(applyAnswer('Tools', { resume, value })).toEqual({ inputResponses: { key: { action: 'accept', content } } });
  });

  it('does not add defaults if the user declined', () => {
    expect(applyAnswer('Tools', { resume, value: undefined })).toEqual({ inputResponses: { key: { action: 'decline' } } });
  });
});
