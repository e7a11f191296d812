import { expect, it } from 'vitest';
import { startProcess } from '#test/start-process.ts';

it('health is not degraded by notices that stay, which the log names', async () => {
  const configuration = {
    models: { demo: { upstreams: [{ protocol: 'demo' }] } },
    identityProviders: { sso: { issuer: 'http://127.0.0.1:9' } },
  };
  await using node = await startProcess({ configuration });
  await node.untilOutput(/identityProviders\.sso\.audience/);
  expect((await node.sendRequest({ method: 'GET', path: '/health' })).json).toMatchObject({ status: 'ok', reasons: [] });
}, 30_000);
