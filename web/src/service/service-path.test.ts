import { describe, expect, it } from 'vitest';
import { isServicePath, toReferencePath } from './service-path.ts';

const origin = 'https://service.example';

const hostile = [
  'files/../v1/user/keys',
  'files/../user/keys',
  'files/b/../../user/keys',
  'files/%2e%2e/user/keys',
  'files/%2E%2e/user/keys',
  'files/.%2e/user/keys',
  'files/b/%2e',
  'files/b/./x',
  'files/b/..%2f..%2fuser/keys',
  'files/b/%2e%2e%2f%2e%2e%2fuser%2fkeys',
  'files/..\\user\\keys',
  'files\\..\\user/keys',
  'files/b/..\\..\\user\\keys',
  'files/.\t./user/keys',
  'files/.\n./user/keys',
  'files/b/\u0000x',
  ' files/b/x',
  '/files/b/x',
  '//evil.example/files/b/x',
  'https://evil.example/files/b/x',
  'FILES/b/x',
  'files//x',
  'files/b//x',
  'files/b/',
  'files/b',
  'files/',
  'files',
  'files/b/%zz',
  'files/b/x?path=/v1/user/keys',
  'files/b/#y',
  'files/..#/b/x',
  'user/keys',
  'shared-chats/../user/keys',
  'shared-chats/%2e%2e/user/keys',
  '',
];

describe('toReferencePath', () => {
  it.each(hostile)('rejects %j', (reference) => {
    expect(toReferencePath(reference)).toBeUndefined();
  });

  it.each([
    ['files/b/a.png', 'v1/files/b/a.png'],
    ['files/b/a b/ü.png', 'v1/files/b/a%20b/%C3%BC.png'],
    ['files/b/a%20b/%C3%BC.png', 'v1/files/b/a%20b/%C3%BC.png'],
    ['files/b/..hidden/x..', 'v1/files/b/..hidden/x..'],
    ['files/b/a%3Fb%23c%25', 'v1/files/b/a%3Fb%23c%25'],
    ['files/b/a%5Cb', 'v1/files/b/a%5Cb'],
    ['files/b/a.pdf#page=3', 'v1/files/b/a.pdf'],
    ['files/b/a.pdf#/../../user/keys?x', 'v1/files/b/a.pdf'],
    ['shared-chats/token/files/0', 'v1/shared-chats/token/files/0'],
  ])('converts %j to its canonical path', (reference, path) => {
    expect(toReferencePath(reference)).toBe(path);
    expect(new URL(path, `${origin}/`).pathname).toBe(`/${path}`);
  });
});

describe('isServicePath', () => {
  it.each([
    'v1/files/../user/keys',
    'v1/files/%2e%2E/user/keys',
    'v1/consent/..',
    'v1/consent/..?a=b',
    'v1/consent/../user/keys#x',
    'v1/consent/..\\user\\keys',
    'v1/a/.\t./b',
    'v1//x/y',
    '/v1/user/info',
    '//evil.example/v1',
    'https://evil.example/v1',
    'https:evil',
    '',
  ])('rejects %j', (path) => {
    expect(isServicePath(path)).toBe(false);
  });

  it.each([
    'v1/bucket',
    'v1/metadata/files/b/',
    'v1/metadata/files/b/a%20b/?limit=100&token=a/../b',
    'v1/deployments/applications/b/..x/rate',
    'openai/deployments/demo/chat/completions',
  ])('accepts %j', (path) => {
    expect(isServicePath(path)).toBe(true);
    expect(new URL(path, `${origin}/`).pathname).toBe(`/${path.split('?')[0]}`);
  });
});
