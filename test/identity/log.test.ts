import { expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { startProcess } from '#test/start-process.ts';
import { getChatPath } from '#test/start-service.ts';
import { splitToken } from './forge.ts';
import { createProviderEntry, startIssuer } from './support.ts';

it.each(['info', 'debug'])('no token or claim appears in the log at the level %s', async (level) => {
  await using issuer = await startIssuer();
  await using unavailableIssuer = await startIssuer();
  const canary = { sub: 'canary-user', email: 'canary@example.com' };
  const tokens = [
    await issuer.token(canary),
    await issuer.token({ ...canary, exp: 1 }),
    await issuer.token({ ...canary, aud: 'canary-audience' }),
    await issuer.token({ ...canary, iss: 'https://canary.example' }),
    await issuer.token(canary, { kid: 'canary-key' }),
    `${(await issuer.token(canary)).slice(0, -4)}`,
    await unavailableIssuer.token(canary),
    'canary.canary.canary',
    'canary-unknown-key',
  ];
  await unavailableIssuer.stop();
  await using node = await startProcess({
    configuration: {
      models: { m: { upstreams: [{ protocol: 'demo' }] } },
      identityProviders: { issuer: createProviderEntry(issuer), gone: createProviderEntry(unavailableIssuer) },
    },
    environment: { LOG_LEVEL: level },
  });
  const statuses: number[] = [];
  for (const token of tokens) {
    const headers = { authorization: `Bearer ${token}` };
    await node.sendRequest({ method: 'GET', path: '/v1/user/info', headers });
    const { status } = await node.sendRequest({
      path: getChatPath('m'),
      headers: { ...headers, 'content-type': 'application/json' },
      body: { messages: hello },
    });
    statuses.push(status);
  }
  expect(statuses).toEqual([200, 401, 401, 401, 401, 401, 503, 401, 401]);
  node.kill('SIGTERM');
  const { stdout, stderr } = await node.ended;
  const output = `${stdout}${stderr}`;
  expect(output.match(/"code":"invalid_token"/g)).toHaveLength(6);
  expect(output).toContain('cannot fetch the keys of the identity provider gone');
  expect(output).not.toContain('canary');
  for (const token of tokens.filter((each) => !each.startsWith('canary'))) {
    for (const part of splitToken(token)) expect(output).not.toContain(part);
  }
});
