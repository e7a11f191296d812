import { expect, it } from 'vitest';
import type { RawFrame } from '#contract/chat/frame.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { createTranslatedReply } from './read-reply.ts';

it('createTranslatedReply ignores texts of a response that are not texts', () => {
  const dialect = createTranslatedReply(() => new UpstreamError('broken', 'x'), { createdSeconds: 1, model: 'm' });
  const parts =
    '[{"type":"output_text","text":9007199254740993},{"type":"output_text","text":{"toString":1}},{"type":"output_text","text":"x"}]';
  const output = `[{"type":"message","role":"assistant","content":${parts}}]`;
  const frame = dialect.readComplete(`{"id":"r","object":"response","status":"completed","output":${output}}`, {}) as RawFrame;
  expect(frame.completion?.choices).toMatchObject([{ message: { content: 'x' } }]);
});
