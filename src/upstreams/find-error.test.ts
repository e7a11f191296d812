import { describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '#base/json/json.ts';
import { findError } from './find-error.ts';

describe('findError', () => {
  it.each(['9007199254740993', '{"toString":1}', '[429]', 'null'])('ignores %s as a status', (code) => {
    const error = findError(parseJson(`{"error":{"message":"m","code":${code}}}`) as JsonObject);
    expect([error?.message, error?.status]).toEqual(['m', undefined]);
  });

  it.each(['429', '"429"'])('reads the status %s from the code', (code) => {
    expect(findError(parseJson(`{"error":{"message":"m","code":${code}}}`) as JsonObject)?.status).toBe(429);
  });
});
