import { describe, expect, it } from 'vitest';
import { HttpError } from '#base/http/client.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toVendorError } from './to-vendor-error.ts';

const createError = (name: string, fields: object = {}, message = 'text'): Error =>
  Object.assign(new Error(message), { name, ...fields });
const createCallError = (fields: object): Error => createError('AI_APICallError', fields, 'message of the package');

function convert(cause: unknown, secrets: readonly string[] = []): UpstreamError {
  const error = toVendorError(cause, secrets);
  if (!(error instanceof UpstreamError)) throw new Error('toVendorError did not return an UpstreamError');
  return error;
}

describe('toVendorError', () => {
  it('returns an UpstreamError unchanged, also from the causes', () => {
    const error = new UpstreamError('refused', 'x', { status: 400 });
    expect([toVendorError(error, []), toVendorError(createError('Error', { cause: error }), [])]).toEqual([error, error]);
  });

  it.each([
    ['connect', 'unreachable'],
    ['connect_timeout', 'unreachable'],
    ['closed', 'unreachable'],
    ['first_byte_timeout', 'timeout'],
    ['idle_timeout', 'broken'],
    ['too_large', 'broken'],
  ] as const)('converts an HTTP error %s among the causes to %s', (kind, expected) => {
    expect(convert(createCallError({ cause: new HttpError(kind, 'x') })).kind).toBe(expected);
  });

  it('reports a connection that closed after the response headers as broken', () => {
    expect(convert(createCallError({ statusCode: 200, cause: new HttpError('closed', 'x') })).kind).toBe('broken');
  });

  it('ignores details that cannot be converted to text', () => {
    const body =
      '{"detail":[{"loc":["a",9007199254740993],"msg":{"toString":1}}],"error":{"details":[{"retryDelay":9007199254740993}]}}';
    expect(convert(createCallError({ statusCode: 422, responseBody: body })).status).toBe(422);
    const detail = '{"detail":[{"loc":["a",9007199254740993],"msg":{"toString":1}}]}';
    expect(convert(createCallError({ statusCode: 422, responseBody: detail })).message).toBe('a: ');
  });

  it('uses the message of the upstream and never that of the package', () => {
    expect(convert(createCallError({ statusCode: 500, responseBody: '' })).message).toBe('The upstream answered 500.');
    expect(convert(createCallError({ statusCode: 502, responseBody: '<html>' })).message).toBe('The upstream answered 502.');
    expect(convert(createCallError({ statusCode: 500 })).message).toBe('The upstream answered 500.');
    expect(convert(createCallError({ statusCode: 400, responseBody: '{"error":{"message":"no","code":"c"}}' }))).toMatchObject({
      ...{ kind: 'refused', status: 400, message: 'no', code: 'c' },
    });
  });

  it('reports a request error that the package found as status 400', () => {
    expect(convert(createError('AI_UnsupportedFunctionalityError', { functionality: 'system messages' }))).toMatchObject({
      ...{ kind: 'refused', status: 400, message: 'The upstream of this model does not accept this: system messages.' },
    });
  });

  it('keeps the cause of an unexpected error, except for package errors, which quote the conversation', () => {
    const cause = new TypeError('x is not a function');
    expect(convert(cause)).toMatchObject({ kind: 'broken', cause });
    expect(convert(createError('AI_TypeValidationError', { value: { text: 'private' } })).cause).toBeUndefined();
    expect(convert(createCallError({ statusCode: 400, requestBodyValues: 'private' })).cause).toBeUndefined();
  });

  it('masks secrets', () => {
    const error = convert(createCallError({ statusCode: 429, responseBody: '{"message":"key abc of abc"}' }), ['abc']);
    expect([error.message, error.status]).toEqual(['key *** of ***', 429]);
  });
});
