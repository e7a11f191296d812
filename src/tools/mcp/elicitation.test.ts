import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { applyAnswer, toQuestion } from './elicitation.ts';

const createResult = (request: object, requestState?: string): InputRequiredResult =>
  ({ resultType: 'input_required', inputRequests: { key: request }, requestState }) as unknown as InputRequiredResult;

const server = { name: 'Tools', mask: (text: string): string => text.replaceAll('canary', '***') };

describe('toQuestion', () => {
  it('uses an object schema if the server sent none', () => {
    expect(toQuestion(server, createResult({ method: 'elicitation/create', params: { message: 'Sure?' } }))).toMatchObject({
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
    expect(() => toQuestion(server, createResult(request as object))).toThrow('asks its client for data that Parley cannot give');
  });

  it('rejects a state that is too long and too many questions', () => {
    const question = { method: 'elicitation/create', params: { message: 'Sure?' } };
    expect(() => toQuestion(server, createResult(question, 'x'.repeat(70_000)))).toThrow(
      'sends a requestState of more than 65536 characters',
    );
    const inputRequests = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${index}`, question]));
    expect(() => toQuestion(server, { ...createResult(question), inputRequests } as InputRequiredResult)).toThrow(
      'more than 10 questions',
    );
  });

  it('truncates a long message', () => {
    const long = { method: 'elicitation/create', params: { message: 'x'.repeat(5000) } };
    expect(toQuestion(server, createResult(long))?.message.length).toBeLessThan(2100);
  });
});

describe('the texts of a question', () => {
  it('have credentials masked before they are truncated, also in the schema and in stored questions', () => {
    const requestedSchema = { type: 'object', properties: { a: { type: 'string', title: 'canary', enum: ['canary'] } } };
    const params = { message: `${'x'.repeat(1997)}canary`, requestedSchema };
    const question = toQuestion(server, createResult({ method: 'elicitation/create', params }));
    expect(question?.message).toBe(`**Tools** asks: ${'x'.repeat(1997)}***`);
    expect(question?.schema).toMatchObject({ properties: { a: { type: 'string', title: '***', enum: ['***'] } } });
    expect(JSON.stringify(question)).not.toContain('can');
  });

  it('have credentials masked in the method of an unsupported request', () => {
    const request = { method: `${'x'.repeat(77)}canary` };
    expect(() => toQuestion(server, createResult(request))).toThrow(`(${'x'.repeat(77)}***)`);
  });
});

describe('applyAnswer', () => {
  const properties = {
    name: { type: 'string', default: 'Ada' },
    sure: { type: 'boolean', default: false },
    age: { type: 'integer' },
  };
  const params = { message: 'Who?', requestedSchema: { type: 'object', properties } };
  const { resume = {} } = toQuestion(server, createResult({ method: 'elicitation/create', params })) ?? {};

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
