import { describe, expect, it } from 'vitest';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { type CheckedReply, checkReply } from './check-reply.ts';

const createReply = (answer: string): CheckedReply => ({ answer, toolRuns: [], costUsd: 0, durationMs: 0 });

describe('checkReply', () => {
  it.each([false, true])(
    'does not block the event loop for a text that almost occurs everywhere: ignoreCase %j',
    async (ignoreCase) => {
      const check = { type: 'contains', text: `ab${'a'.repeat(19_000)}`, ignoreCase } as const;
      const reply = createReply('a'.repeat(4_000_000));
      const blockedMs = await measureMinEventLoopBlock(250, () => expect(checkReply(check, reply).passed).toBe(false));
      expect(blockedMs).toBeLessThan(250);
    },
  );
});
