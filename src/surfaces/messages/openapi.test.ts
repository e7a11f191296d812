import { validate } from '@scalar/openapi-parser';
import { describe, expect, it } from 'vitest';
import { toOpenApi } from '../ops/openapi-document.ts';
import { messagesOperations } from './openapi.ts';

describe('messagesOperations', () => {
  it('describes the surface below every prefix', async () => {
    const document = toOpenApi(messagesOperations(['anthropic', 'claude/api']), '1.2.3');
    expect((await validate(document as Record<string, unknown>)).errors ?? []).toEqual([]);
    expect(Object.keys((document as { paths: object }).paths)).toEqual([
      '/msgapi/v1/messages',
      '/msgapi/v1/messages/count_tokens',
      ...['anthropic', 'claude/api'].flatMap((alias) =>
        ['messages', 'messages/count_tokens', 'models', 'models/{id}'].map((path) => `/${alias}/v1/${path}`),
      ),
    ]);
  });
});
