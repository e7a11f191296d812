import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, test } from 'vitest';
import { ParleyError } from '../errors/errors.ts';
import { parseEmbeddingsRequest } from './embeddings-request.ts';

const invalidCases: [body: object, param: string, claim: string][] = [
  [{}, 'input', 'is required'],
  [{ input: null }, 'input', 'must be a string or an array'],
  [{ input: 5 }, 'input', 'must be a string or an array'],
  [{ input: {} }, 'input', 'must be a string or an array'],
  [{ input: '' }, 'input', 'must not be empty'],
  [{ input: [] }, 'input', 'must have at least 1 item'],
  [{ input: Array(2049).fill('a') }, 'input', 'must have at most 2048 items'],
  [{ input: Array(2049).fill([1]) }, 'input', 'must have at most 2048 items'],
  [{ input: ['a', ''] }, 'input[1]', 'must not be empty'],
  [{ input: ['a', 5] }, 'input[1]', 'must be a string'],
  [{ input: [null] }, 'input[0]', 'must be a string'],
  [{ input: [1, 'a'] }, 'input[1]', 'must be an integer'],
  [{ input: [1.5] }, 'input[0]', 'must be an integer'],
  [{ input: [-1] }, 'input[0]', 'must be at least 0'],
  [{ input: [[1], 'a'] }, 'input[1]', 'must be an array'],
  [{ input: [[1], []] }, 'input[1]', 'must have at least 1 item'],
  [{ input: [[1, 'a']] }, 'input[0][1]', 'must be an integer'],
  [{ input: 'a', model: 5 }, 'model', 'must be a string'],
  [{ input: 'a', encoding_format: 'hex' }, 'encoding_format', 'must be "float" or "base64"'],
  [{ input: 'a', dimensions: 0 }, 'dimensions', 'must be at least 1'],
  [{ input: 'a', dimensions: 1.5 }, 'dimensions', 'must be an integer'],
  [{ input: 'a', user: 5 }, 'user', 'must be a string'],
  [{ input: 'a', Model: 'b' }, 'Model', 'is not a known field. The name is model'],
];

describe('parseEmbeddingsRequest with an invalid body', () => {
  test.each(invalidCases)('reports the path of an invalid field: %#', (body, param, claim) => {
    const message = `${param} ${claim}.`;
    expect(() => parseEmbeddingsRequest(body)).toThrow(expect.objectContaining({ code: 'invalid_request', param, message }));
  });

  test.each([5, 'a', null, []])('rejects the body %j', (body) => {
    expect(() => parseEmbeddingsRequest(body)).toThrow(
      expect.objectContaining({ param: null, message: 'The body must be an object.' }),
    );
  });
});

describe('parseEmbeddingsRequest with a valid body', () => {
  test.each([
    { input: 'a' },
    { input: ['a', 'b'], model: 'm', encoding_format: 'base64', dimensions: 256, user: 'u' },
    { input: [1, 0, 5] },
    { input: Array(5000).fill(1) },
    { input: [[1], [2, 3]], encoding_format: 'float' },
    { input: Array(2048).fill('a'), input_type: 'query' },
  ])('returns body %# unchanged', (body) => {
    expect(parseEmbeddingsRequest(body)).toBe(body);
  });

  test('omits optional fields that are null', () => {
    const body = { input: 'a', model: null, encoding_format: null, dimensions: null, user: null, x: null };
    expect(parseEmbeddingsRequest(body)).toStrictEqual({ input: 'a', x: null });
  });
});

test('parseEmbeddingsRequest returns a request or throws a ParleyError for any JSON', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.record({ input: fc.jsonValue() })), (body) => {
      try {
        parseEmbeddingsRequest(body);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ParleyError);
        expect(thrown).toHaveProperty('code', 'invalid_request');
      }
    }),
  );
});
