import { expect, it } from 'vitest';
import { startProcess } from '#test/start-process.ts';

it('permanent configuration warnings appear in the log and do not degrade health', async () => {
  const configuration = {
    models: { demo: { upstreams: [{ protocol: 'demo' }] } },
    identityProviders: { sso: { issuer: 'http://127.0.0.1:9' } },
  };
  await using node = await startProcess({ configuration });
  await node.untilOutput(/identityProviders\.sso\.audience/);
  expect((await node.sendRequest({ method: 'GET', path: '/health' })).json).toMatchObject({ status: 'ok', reasons: [] });
});
