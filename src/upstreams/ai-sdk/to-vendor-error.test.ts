import { describe, expect, it } from 'vitest';
import { HttpError } from '#base/http/client.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toVendorError } from './to-vendor-error.ts';

const named = (name: string, fields: object = {}, message = 'said'): Error =>
  Object.assign(new Error(message), { name, ...fields });
const callError = (fields: object): Error => named('AI_APICallError', fields, 'the words of the package');

function faultOf(thrown: unknown, secrets: readonly string[] = []): UpstreamError {
  const fault = toVendorError(thrown, secrets);
  if (!(fault instanceof UpstreamError)) throw new Error('is no fault of an upstream');
  return fault;
}

describe('toError', () => {
  it('keeps a fault that is one already, wherever it stands', () => {
    const fault = new UpstreamError('refused', 'x', { status: 400 });
    expect([toVendorError(fault, []), toVendorError(named('Error', { cause: fault }), [])]).toEqual([fault, fault]);
  });

  it.each([
    ['connect', 'unreachable'],
    ['connect_timeout', 'unreachable'],
    ['closed', 'unreachable'],
    ['first_byte_timeout', 'timeout'],
    ['idle_timeout', 'broken'],
    ['too_large', 'broken'],
  ] as const)('tells %s on the wire as %s, however deep it is wrapped', (kind, told) => {
    expect(faultOf(callError({ cause: new HttpError(kind, 'x') })).kind).toBe(told);
  });

  it('tells a connection that closed behind the head as broken', () => {
    expect(faultOf(callError({ statusCode: 200, cause: new HttpError('closed', 'x') })).kind).toBe('broken');
  });

  it('says what the upstream said, and never what its package did', () => {
    expect(faultOf(callError({ statusCode: 500, responseBody: '' })).message).toBe('The upstream answered 500.');
    expect(faultOf(callError({ statusCode: 502, responseBody: '<html>' })).message).toBe('The upstream answered 502.');
    expect(faultOf(callError({ statusCode: 500 })).message).toBe('The upstream answered 500.');
    expect(faultOf(callError({ statusCode: 400, responseBody: '{"error":{"message":"no","code":"c"}}' }))).toMatchObject({
      ...{ kind: 'refused', status: 400, message: 'no', code: 'c' },
    });
  });

  it('takes what a package finds in the request for a mistake of the caller', () => {
    expect(faultOf(named('AI_UnsupportedFunctionalityError', { functionality: 'system messages' }))).toMatchObject({
      ...{ kind: 'refused', status: 400, message: 'The upstream of this model does not accept this: system messages.' },
    });
  });

  it('keeps the cause of what nobody foresaw, but none that quotes what was said', () => {
    const own = new TypeError('x is not a function');
    expect(faultOf(own)).toMatchObject({ kind: 'broken', cause: own });
    expect(faultOf(named('AI_TypeValidationError', { value: { text: 'private' } })).cause).toBeUndefined();
    expect(faultOf(callError({ statusCode: 400, requestBodyValues: 'private' })).cause).toBeUndefined();
  });

  it('shows no secret', () => {
    const fault = faultOf(callError({ statusCode: 429, responseBody: '{"message":"key abc of abc"}' }), ['abc']);
    expect([fault.message, fault.status]).toEqual(['key *** of ***', 429]);
  });
});
