import { describe, expect, it } from 'vitest';
import { checkApiVersion, isApiVersion } from './api-version.ts';

describe('checkApiVersion', () => {
  it.each(['2024-10-21', '2024-02-29', '0001-01-01', '9999-12-31', '2024-10-21-preview'])('accepts %s in the path', (text) => {
    expect(isApiVersion(text)).toBe(true);
  });

  it.each([
    '',
    '0000-01-01',
    '2023-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-10-32',
    '2024-1-1',
    '02024-10-21',
    '2024-10-21-Preview',
    '2024-10-21 ',
    '2024-10-21\n',
    '２０２４-10-21',
  ])('rejects %j in the path and quotes it', (text) => {
    expect(isApiVersion(text)).toBe(false);
    const check = () => checkApiVersion({ text, from: 'path' });
    expect(check).toThrow(expect.objectContaining({ code: 'invalid_api_version', param: 'api_version' }));
    expect(check).toThrow(`"${text}"`);
  });

  it.each(['preview', 'latest', 'v1', '2024-02-30', '2025_04_01-preview', '1.0'])(
    'accepts any word in the query, such as %s',
    (text) => {
      expect(() => checkApiVersion({ text, from: 'query' })).not.toThrow();
    },
  );

  it.each(['', 'a b', '2024-10-21\n', '2024/10/21', 'é', '%'])('rejects %j in the query', (text) => {
    const refusal = expect.objectContaining({ code: 'invalid_api_version', param: 'api_version' });
    expect(() => checkApiVersion({ text, from: 'query' })).toThrow(refusal);
  });
});
