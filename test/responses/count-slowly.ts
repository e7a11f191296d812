import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '#test/scripted-upstream.ts';

const pauseMs = 20;

/** A model that counts to the number it is told, a word at a time, and breaks off if it is told to. */
export const countSlowly: Reply = async (answering) => {
  const { received } = answering;
  const said = JSON.stringify((received.body.messages as unknown[]).at(-1));
  const most = Number(/count to (\d+)/.exec(said)?.[1] ?? 3);
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  answering.head();
  for (let nth = 1; nth <= most && received.isOpen; nth += 1) {
    await answering.events({
      ...head,
      choices: [{ index: 0, delta: { role: 'assistant', content: `${nth} ` }, finish_reason: null }],
    });
    await sleep(pauseMs);
  }
  if (said.includes('break off')) return answering.destroyConnection();
  const usage = { prompt_tokens: 3, completion_tokens: most, total_tokens: most + 3 };
  await answering.events({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { ...head, choices: [], usage });
  answering.done();
};
