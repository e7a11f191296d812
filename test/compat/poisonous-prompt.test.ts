import { expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, refusal, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService } from '#test/start-service.ts';

const keys = { ada: { project: 'ada' }, bob: { project: 'bob' }, eve: { project: 'eve' } };
const poison = [{ role: 'user', content: 'poison' }];
const answering: Reply = (answer) =>
  (answer.received.text.includes('poison') ? refusal(500) : jsonReply(plainCompletion('fine')))(answer);

it('a prompt of one caller that its upstream fails at closes the upstream to nobody else', async () => {
  await using upstream = await startScriptedUpstream(answering);
  await using service = await startService({ keys, models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } });
  for (let call = 0; call < 6; call += 1)
    expect((await service.chat('m', { messages: poison }, { 'api-key': 'eve' })).status).toBe(500);
  const asked = upstream.requests.length;
  expect((await service.chat('m', { messages: hello }, { 'api-key': 'ada' })).status).toBe(200);
  expect((await service.chat('m', { messages: hello }, { 'api-key': 'bob' })).status).toBe(200);
  expect(upstream.requests.length).toBe(asked + 2);
});

it('a fault that several callers met leaves it alone', async () => {
  await using upstream = await startScriptedUpstream(refusal(500));
  await using service = await startService({ keys, models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } });
  for (const key of ['eve', 'ada']) expect((await service.chat('m', { messages: hello }, { 'api-key': key })).status).toBe(500);
  const { status, headers } = await service.chat('m', { messages: hello }, { 'api-key': 'bob' });
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect(upstream.requests).toHaveLength(2);
});
