import { expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { sendRequest } from '#test/send-request.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { startLandscape } from './support.ts';

it('a deployment that per-request keys cannot use is hidden from applications and open to users', async () => {
  const options = {
    models: { secluded: { upstreams: [{ protocol: 'demo' }], features: { accessibleByPerRequestKey: false } } },
  };
  await using landscape = await startLandscape({ root: {} }, { more: options });
  const { service, sideEffects } = landscape;
  let listedIds: unknown;
  sideEffects.set('root', async (key) => {
    const { json } = await sendRequest(service.url, { method: 'GET', path: '/v1/models', headers: { 'api-key': key } });
    listedIds = (json as { data: { id: string }[] }).data.map(({ id }) => id);
  });
  expect(await landscape.callThrough(['root', 'secluded'])).toContain('access_denied');
  expect(listedIds).toEqual(['root']);
  const path = '/openai/deployments/secluded/chat/completions';
  const answer = await sendRequest(service.url, { path, headers: withKey(callerKey), body: { messages: hello } });
  expect(answer.status).toBe(200);
});
