import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '#test/scripted-upstream.ts';

const pauseMs = 20;

/**
 * A model that counts to the requested number, one word at a time. It closes the connection if the prompt contains `break off`.
 */
export const countSlowly: Reply = async (exchange) => {
  const { received } = exchange;
  const prompt = JSON.stringify((received.body.messages as unknown[]).at(-1));
  const maxCount = Number(/count to (\d+)/.exec(prompt)?.[1] ?? 3);
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  exchange.head();
  for (let nth = 1; nth <= maxCount && received.isOpen; nth += 1) {
    await exchange.events({
      ...head,
      choices: [{ index: 0, delta: { role: 'assistant', content: `${nth} ` }, finish_reason: null }],
    });
    await sleep(pauseMs);
  }
  if (prompt.includes('break off')) return exchange.destroyConnection();
  const usage = { prompt_tokens: 3, completion_tokens: maxCount, total_tokens: maxCount + 3 };
  await exchange.events({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { ...head, choices: [], usage });
  exchange.done();
};
