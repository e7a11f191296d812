import { expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, withKey } from '#test/start-service.ts';

allowNonconformingUpstreams();

it.each([9_007_199_254_740_994, { a: 1 }, true])('a finish reason of %j is reported as a normal end', async (finish_reason) => {
  const message = { role: 'assistant', content: 'hi' };
  const oddCompletion = { ...plainCompletion('hi'), choices: [{ index: 0, message, finish_reason }] };
  await using upstream = await startScriptedUpstream(jsonReply(oddCompletion));
  await using service = await startService({ models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } });
  const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
  const answer = await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body });
  expect([answer.status, (answer.json as { stop_reason: string }).stop_reason]).toEqual([200, 'end_turn']);
});
