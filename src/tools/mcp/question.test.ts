import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { takeAnswer, toQuestion } from './question.ts';

const asking = (request: object, requestState?: string): InputRequiredResult =>
  ({ resultType: 'input_required', inputRequests: { it: request }, requestState }) as unknown as InputRequiredResult;

describe('what a server asks', () => {
  it('is a question with a schema that is an object, though it wrote none', () => {
    expect(toQuestion('Tools', asking({ method: 'elicitation/create', params: { message: 'Sure?' } }))).toMatchObject({
      label: 'Answer Tools',
      message: '**Tools** asks: Sure?',
      schema: { type: 'object', properties: {} },
    });
  });

  it.each([
    ['an answer of a model', { method: 'sampling/createMessage', params: {} }],
    ['folders', { method: 'roots/list' }],
    ['a visit to a page', { method: 'elicitation/create', params: { mode: 'url', url: 'https://host/', message: 'Sign in' } }],
    ['nothing that can be read', 'x'],
  ])('is refused where it is %s', (_what, request) => {
    expect(() => toQuestion('Tools', asking(request as object))).toThrow('asks its client for what it cannot be given here');
  });

  it('is refused where it is too much to keep or to ask', () => {
    const one = { method: 'elicitation/create', params: { message: 'Sure?' } };
    expect(() => toQuestion('Tools', asking(one, 'x'.repeat(70_000)))).toThrow('more state to keep');
    const inputRequests = Object.fromEntries(Array.from({ length: 11 }, (_, nth) => [`${nth}`, one]));
    expect(() => toQuestion('Tools', { ...asking(one), inputRequests } as InputRequiredResult)).toThrow('more than 10 questions');
  });

  it('is cut where it is long', () => {
    const long = { method: 'elicitation/create', params: { message: 'x'.repeat(5000) } };
    expect(toQuestion('Tools', asking(long))?.message.length).toBeLessThan(2100);
  });
});

describe('what the user answers', () => {
  const properties = {
    name: { type: 'string', default: 'Ada' },
    sure: { type: 'boolean', default: false },
    age: { type: 'integer' },
  };
  const params = { message: 'Who?', requestedSchema: { type: 'object', properties } };
  const { resume = {} } = toQuestion('Tools', asking({ method: 'elicitation/create', params })) ?? {};

  it.each([
    ['nothing', {}, { name: 'Ada', sure: false }],
    ['something else', { name: '', age: 7 }, { name: '', sure: false, age: 7 }],
  ])('is completed with what the server proposed where it is %s', (_what, value, content) => {
    expect(takeAnswer('Tools', { resume, value })).toEqual({ inputResponses: { it: { action: 'accept', content } } });
  });

  it('is not completed where it is a refusal', () => {
    expect(takeAnswer('Tools', { resume, value: undefined })).toEqual({ inputResponses: { it: { action: 'decline' } } });
  });
});
