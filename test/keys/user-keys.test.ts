import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { callerKey } from '#test/start-service.ts';
import { askWith, chat, type KeysHouse, knows, type Made, makeKey, startKeysHouse } from './keys-house.ts';

vi.setConfig({ testTimeout: 30_000 });

const dayMs = 24 * 60 * 60 * 1000;
/** Nodes know of a change within a second, where they have a processor. */
const soon = { timeout: 5_000, interval: 20 };

describe.each(['SQLite', 'PostgreSQL'] as const)('a user key, on %s', (engine) => {
  let house: KeysHouse;
  let count = 0;
  let user: string;
  let token: string;
  const signIn = (roles: string | readonly string[] = 'maker', more: object = {}) =>
    house.issuer.token({ sub: user, roles, ...more });
  const keysOf = async (held: string): Promise<Made[]> =>
    ((await askWith(house.nodes[0], held, '/v1/user/keys')).json as { data: Made[] }).data;
  const post = (held: string, body: object, path = '/v1/user/keys') =>
    askWith(house.nodes[0], held, path, { method: 'POST', body });

  beforeAll(async () => {
    house = await startKeysHouse(engine);
    house.upstream.script(({ response }) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(plainCompletion('hi')));
    });
  });
  beforeEach(async () => {
    house.configure();
    user = `user-${++count}`;
    token = await signIn();
  });
  afterAll(() => house[Symbol.asyncDispose]());

  it('is shown once, acts as the user on every node, and is stored as a digest only', async () => {
    const [one, two] = house.nodes;
    const made = await makeKey(one, token, { name: 'Notebook', days: 7 });
    expect(made).toMatchObject({ name: 'Notebook', lastUsedAt: null, prefix: made.key.slice(0, made.prefix.length) });
    expect(made.expiresAt - made.createdAt).toBe(7 * dayMs);
    expect(made.key).not.toContain(made.id);
    expect(made.prefix.length).toBeLessThan(20);
    expect(await knows(one, made.key)).toBe(user);
    await vi.waitFor(async () => expect(await knows(two, made.key)).toBe(user), soon);
    const info = await askWith(two, made.key, '/v1/user/info');
    expect(info.json).toEqual({ user, project: 'corporate', roles: ['maker'] });
    expect(await chat(two, made.key)).toBe('200');
    const { key, ...shown } = made;
    expect(await keysOf(token)).toEqual([shown]);
    const rows = await house.database.run((kysely) => kysely.selectFrom('api_keys').selectAll().execute());
    expect(JSON.stringify(rows)).not.toContain(key.slice(9));
  });

  it('has the time of its last use', async () => {
    const made = await makeKey(house.nodes[0], token);
    expect(await knows(house.nodes[0], made.key)).toBe(user);
    await vi.waitFor(async () => expect((await keysOf(token))[0]?.lastUsedAt).toBeGreaterThan(made.createdAt - 1), 8_000);
  });

  it('can be created only by signed-in users whose role allows it, and the error names the remedy', async () => {
    const made = await makeKey(house.nodes[0], token);
    const refusal = async (credentials: string) => {
      const { status, error } = await post(credentials, {});
      return [status, error.code, error.message];
    };
    expect(await refusal(callerKey)).toEqual([
      403,
      'access_denied',
      expect.stringContaining('sign in with an identity provider'),
    ]);
    expect(await refusal(made.key)).toEqual([403, 'access_denied', expect.stringContaining('Sign in, and send your token')]);
    expect((await askWith(house.nodes[0], made.key, '/v1/user/keys')).status).toBe(403);
    // From here on the key goes by this token.
    expect(await refusal(await signIn('plain'))).toEqual([403, 'access_denied', expect.stringContaining('selfService')]);
    expect(await keysOf(token)).toHaveLength(1);
  });

  it('is announced in the user info', async () => {
    const offered = async (credentials: string) =>
      ((await askWith(house.nodes[0], credentials, '/v1/user/info')).json as { selfService?: object }).selfService;
    expect(await offered(token)).toEqual({ keys: 3, maxDays: 30 });
    expect(await offered(await signIn('plain'))).toBeUndefined();
    expect(await offered(callerKey)).toBeUndefined();
    expect(await offered((await makeKey(house.nodes[0], token)).key)).toBeUndefined();
  });

  it('counts toward the number that the most generous role allows', async () => {
    const [one] = house.nodes;
    house.configure({
      roles: { maker: { selfService: { keys: 1, maxDays: 90 } }, more: { selfService: { keys: 2, maxDays: 1 } } },
    });
    const both = await signIn(['maker', 'more']);
    const [first] = [await makeKey(one, both, { days: 90 }), await makeKey(one, both)];
    const refused = await post(both, {});
    expect([refused.status, refused.error.code]).toEqual([409, 'too_many_keys']);
    expect(refused.error.message).toContain('at most 2 keys');
    expect((await askWith(one, both, `/v1/user/keys/${first.id}`, { method: 'DELETE' })).status).toBe(204);
    await makeKey(one, both);
  });

  it('never exceeds that number with concurrent requests on two nodes', async () => {
    const asked = Array.from({ length: 8 }, (_, nth) =>
      askWith(house.nodes[nth % 2] as { url: string }, token, '/v1/user/keys', { method: 'POST', body: {} }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
  });

  it.each([
    [{ days: 31 }, 'days'],
    [{ expiresAt: 1 }, 'expiresAt'],
    [{ expiresAt: 9e15 }, 'expiresAt'],
    [{ expiresAt: 9e15, days: 1 }, 'days'],
    [{ name: '' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ deployments: ['m', '../x'] }, 'deployments[1]'],
    [{ allowedIps: ['10.0.0.1', 'home'] }, 'allowedIps[1]'],
    [{ colour: 'red' }, 'colour'],
  ])('rejects %j with its path', async (body, param) => {
    const { status, error } = await post(token, body);
    expect([status, error.param]).toEqual([400, param]);
  });

  it('expires when the user says, or after the maximum', async () => {
    const [one] = house.nodes;
    const made = await makeKey(one, token);
    expect(made.expiresAt - made.createdAt).toBe(30 * dayMs);
    const expiresAt = house.clock.epochMs() + 60_000;
    const short = await makeKey(one, token, { expiresAt });
    expect(short.expiresAt).toBe(expiresAt);
    expect(await knows(one, short.key)).toBe(user);
    house.clock.moveCalendar(60_001);
    for (const node of house.nodes) expect(await knows(node, short.key)).toBe('401 invalid_api_key');
    expect(await knows(one, made.key)).toBe(user);
  });

  it('no longer counts after it has expired', async () => {
    const expiresAt = house.clock.epochMs() + 60_000;
    for (let nth = 0; nth < 3; nth += 1) await makeKey(house.nodes[0], token, { expiresAt });
    house.clock.moveCalendar(60_001);
    expect(await keysOf(token)).toHaveLength(3);
    await makeKey(house.nodes[0], await signIn());
    expect(await keysOf(token)).toHaveLength(1);
  });

  it('is rejected on every node after its owner, and no other user, deletes it', async () => {
    const [one, two] = house.nodes;
    const made = await makeKey(one, token);
    await vi.waitFor(async () => expect(await knows(two, made.key)).toBe(user), soon);
    const path = `/v1/user/keys/${made.id}`;
    const stranger = await house.issuer.token({ sub: 'stranger', roles: 'maker' });
    const others = await askWith(one, stranger, path, { method: 'DELETE' });
    expect([others.status, others.error.code]).toEqual([404, 'key_not_found']);
    expect((await askWith(one, token, path, { method: 'DELETE' })).status).toBe(204);
    expect(await knows(one, made.key)).toBe('401 invalid_api_key');
    await vi.waitFor(async () => expect(await knows(two, made.key)).toBe('401 invalid_api_key'), soon);
    expect((await askWith(one, token, path, { method: 'DELETE' })).status).toBe(404);
    expect(await keysOf(token)).toEqual([]);
  });

  it('is replaced under its ID, and the old key works for the requested overlap', async () => {
    const [one, two] = house.nodes;
    const first = await makeKey(one, token, { name: 'Robot' });
    const path = `/v1/user/keys/${first.id}/rotate`;
    const next = (await post(token, { overlapSeconds: 100 }, path)).json as Made;
    expect(next).toMatchObject({ id: first.id, name: 'Robot', expiresAt: first.expiresAt });
    for (const { key } of [first, next]) await vi.waitFor(async () => expect(await knows(two, key)).toBe(user), soon);
    house.clock.moveCalendar(100_001);
    expect(await knows(two, first.key)).toBe('401 invalid_api_key');
    expect(await knows(two, next.key)).toBe(user);
    const third = (await post(token, {}, path)).json as Made;
    expect(await knows(one, next.key)).toBe('401 invalid_api_key');
    expect(await knows(one, third.key)).toBe(user);
    expect(await keysOf(token)).toHaveLength(1);
    expect((await post(token, { overlapSeconds: -1 }, path)).error.param).toBe('overlapSeconds');
    expect((await post(token, {}, '/v1/user/keys/none/rotate')).error.code).toBe('key_not_found');
  });

  it('calls only its deployments, as far as its user can', async () => {
    const [one] = house.nodes;
    const made = await makeKey(one, token, { deployments: ['m'] });
    expect([await chat(one, made.key), await chat(one, made.key, 'other')]).toEqual(['200', '403 access_denied']);
    const listed = (await askWith(one, made.key, '/v1/models')).json as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toEqual(['m']);
    const none = await makeKey(one, token, { deployments: [] });
    expect(await chat(one, none.key)).toBe('403 access_denied');
    const wide = await makeKey(one, token);
    house.configure({ models: { m: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] } } });
    expect([await chat(one, made.key), await chat(one, wide.key)]).toEqual(['403 access_denied', '403 access_denied']);
  });

  it('cannot change its binding to deployments', async () => {
    const [one] = house.nodes;
    const { key } = await makeKey(one, token, { deployments: ['m'] });
    const refused = ['/v1/consent/app', '/v1/user/keys'];
    for (const path of refused) expect([path, (await askWith(one, key, path)).status]).toEqual([path, 403]);
    const wide = await makeKey(one, token);
    expect((await askWith(one, wide.key, '/v1/consent/app')).status).toBe(200);
  });

  it('is accepted only from its addresses, also as reported by a trusted proxy', async () => {
    const [one] = house.nodes;
    const home = await makeKey(one, token, { allowedIps: ['127.0.0.1'] });
    const away = await makeKey(one, token, { allowedIps: ['192.0.2.0/24', '2001:db8::/32'] });
    const nobody = await makeKey(one, token, { allowedIps: [] });
    const seen = (key: string, forwarded?: string) =>
      knows(one, key, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });
    expect([await seen(home.key), await seen(away.key), await seen(nobody.key)]).toEqual([
      user,
      '403 address_not_allowed',
      '403 address_not_allowed',
    ]);
    expect(await seen(away.key, '192.0.2.7')).toBe('403 address_not_allowed');
    expect(await chat(one, away.key)).toBe('403 address_not_allowed');
    expect(house.audited.at(-1)?.action).toBe('credentials.refused');
    house.configure({ security: { trustedProxies: ['127.0.0.1'] } });
    expect(await seen(away.key, '192.0.2.7')).toBe(user);
    expect(await seen(away.key, '2001:db8::7')).toBe(user);
    expect(await seen(away.key, '192.0.3.7')).toBe('403 address_not_allowed');
    expect(await seen(home.key, '192.0.2.7')).toBe('403 address_not_allowed');
  });

  it('has the roles of the newest token of its user, in any order of requests', async () => {
    const [one, two] = house.nodes;
    const made = await makeKey(one, token);
    const rolesOn = async (node: { url: string }) =>
      ((await askWith(node, made.key, '/v1/user/info')).json as { roles: string[] }).roles;
    const later = Math.floor(house.clock.epochMs() / 1000);
    house.clock.pass(5_000);
    const newer = await signIn(['maker', 'staff'], { iat: later + 4 });
    expect(await knows(two, newer)).toBe(user);
    for (const node of house.nodes) await vi.waitFor(async () => expect(await rolesOn(node)).toEqual(['maker', 'staff']), soon);
    expect(await knows(one, token)).toBe(user);
    expect(await knows(one, await signIn('maker', { iat: later - 1 }))).toBe(user);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await rolesOn(one)).toEqual(['maker', 'staff']);
  });

  it('has the roles of the next token immediately', async () => {
    const made = await makeKey(house.nodes[0], token);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iat: number };
    expect(await knows(house.nodes[0], await signIn('plain', { iat: claims.iat }))).toBe(user);
    await vi.waitFor(async () => expect(await knows(house.nodes[0], made.key)).toBe('401 invalid_api_key'), soon);
  });

  it('shares the limits and the files of its user', async () => {
    const limits = { m: { requestDay: 2 } };
    house.configure({ roles: { maker: { limits, selfService: { keys: 1, maxDays: 1 } } } });
    const { key } = await makeKey(house.nodes[0], token);
    const asked = [await chat(house.nodes[0], token), await chat(house.nodes[0], key), await chat(house.nodes[0], token)];
    expect(asked).toEqual(['200', '200', '429 request_limit_exceeded']);
    expect(await chat(house.nodes[0], key)).toBe('429 request_limit_exceeded');
    const bucketOf = async (held: string) => (await askWith(house.nodes[0], held, '/v1/bucket')).text;
    expect(await bucketOf(key)).toBe(await bucketOf(token));
  });

  it('stops with the right to have keys, and works again with it', async () => {
    const [one, two] = house.nodes;
    const made = await makeKey(one, token);
    const other = await makeKey(one, token);
    await vi.waitFor(async () => expect(await knows(two, made.key)).toBe(user), soon);
    house.configure({ roles: { maker: {}, plain: { selfService: { keys: 1, maxDays: 1 } } } });
    for (const node of house.nodes) expect(await knows(node, made.key)).toBe('401 invalid_api_key');
    house.configure({ roles: { maker: {}, plain: {} } });
    for (const node of house.nodes) expect(await knows(node, made.key)).toBe('401 invalid_api_key');
    // Whoever lost the right sees and deletes what is there.
    const leaked = `/v1/user/keys/${other.id}`;
    expect((await keysOf(token)).map(({ id }) => id)).toContain(other.id);
    expect((await post(token, {}, `${leaked}/rotate`)).status).toBe(403);
    expect((await askWith(one, token, leaked, { method: 'DELETE' })).status).toBe(204);
    house.configure();
    for (const node of house.nodes) expect(await knows(node, made.key)).toBe(user);
    expect(await knows(one, other.key)).toBe('401 invalid_api_key');
    house.clock.pass(2_000);
    const seconds = Math.floor(house.clock.epochMs() / 1000);
    expect(await knows(one, await signIn('plain', { iat: seconds }))).toBe(user);
    for (const node of house.nodes)
      await vi.waitFor(async () => expect(await knows(node, made.key)).toBe('401 invalid_api_key'), soon);
    house.clock.pass(2_000);
    expect(await knows(two, await signIn('maker', { iat: seconds + 2 }))).toBe(user);
    for (const node of house.nodes) await vi.waitFor(async () => expect(await knows(node, made.key)).toBe(user), soon);
    house.configure({ identityProviders: {} });
    expect(await knows(one, made.key)).toBe('401 invalid_api_key');
  });

  it('is allowed by the role default only for users whose roles are not configured', async () => {
    house.configure({ roles: { default: { selfService: { keys: 1, maxDays: 1 } }, plain: {} } });
    const made = await makeKey(house.nodes[0], await signIn('unheard-of'));
    expect(await knows(house.nodes[0], made.key)).toBe(user);
    expect((await post(await signIn('plain'), {})).status).toBe(403);
  });

  it('is recorded in the audit log', async () => {
    const made = await makeKey(house.nodes[0], token);
    await post(token, {}, `/v1/user/keys/${made.id}/rotate`);
    await askWith(house.nodes[0], token, `/v1/user/keys/${made.id}`, { method: 'DELETE' });
    const noted = house.audited.filter(({ object }) => object === made.id);
    expect(noted.map(({ action, subject }) => [action, subject])).toEqual([
      ['key.made', user],
      ['key.rotated', user],
      ['key.deleted', user],
    ]);
  });
});
