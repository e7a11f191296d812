import { describe, expect, it } from 'vitest';
import { checkApiVersion, isApiVersion } from './api-version.ts';

describe('an API version', () => {
  it.each(['2024-10-21', '2024-02-29', '0001-01-01', '9999-12-31', '2024-10-21-preview'])('is %s', (text) => {
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
  ])('is not %j, and the refusal quotes it', (text) => {
    expect(isApiVersion(text)).toBe(false);
    expect(() => checkApiVersion(text)).toThrow(expect.objectContaining({ code: 'invalid_api_version', param: 'api_version' }));
    expect(() => checkApiVersion(text)).toThrow(`"${text}"`);
  });
});
