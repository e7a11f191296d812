import { describe, expect, it } from 'vitest';
import { listErrorsUnder, toFieldErrors } from './form.ts';

describe('toFieldErrors', () => {
  it('assigns errors to their fields', () => {
    const message =
      'applicationProperties.model is required; applicationProperties.mcp_toolset[0].mcp_server_info.url must be an address that begins with http:// or https://; and 2 more.';
    expect([...toFieldErrors(message, 'applicationProperties.model')]).toEqual([
      ['applicationProperties.model', 'is required.'],
      ['applicationProperties.mcp_toolset[0].mcp_server_info.url', 'must be an address that begins with http:// or https://.'],
    ]);
  });

  it('does not split a message at its semicolons', () => {
    const message = 'applicationProperties.starters must be a list; a text is not enough.';
    expect([...toFieldErrors(message, 'applicationProperties.starters')]).toEqual([
      ['applicationProperties.starters', 'must be a list; a text is not enough.'],
    ]);
  });

  it('parses quoted keys', () => {
    const field = 'applicationProperties["a; b"].c';
    expect([...toFieldErrors(`${field} is unknown.`, field)]).toEqual([[field, 'is unknown.']]);
  });

  it('assigns any other message to the named field', () => {
    expect([...toFieldErrors('Something is wrong', 'displayName')]).toEqual([['displayName', 'Something is wrong']]);
  });

  it.each(['The body must be an object.', 'Nothing of use', ''])('finds no field in %j', (message) => {
    expect([...toFieldErrors(message, undefined).keys()]).toEqual([]);
  });
});

describe('listErrorsUnder', () => {
  it('lists the errors of a field and of all fields below it', () => {
    const errors = new Map([
      ['a', 'is wrong.'],
      ['a.b[0]', 'is wrong too.'],
      ['ab', 'is another.'],
    ]);
    expect(listErrorsUnder(errors, 'a')).toEqual(['is wrong.', 'b[0] is wrong too.']);
  });
});
