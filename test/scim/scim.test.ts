import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStream, type TestResponse } from '#test/send-request.ts';
import {
  createUserKey,
  identifyWithNode,
  type KeysCluster,
  sendWithCredentials,
  startKeysCluster,
  talkOn,
} from '../keys/keys-cluster.ts';

vi.setConfig({ testTimeout: 30_000 });

const withinSecond = { timeout: 3_000, interval: 20 };
const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

interface Resource {
  readonly id: string;
  readonly [name: string]: unknown;
}

describe.each(['SQLite', 'PostgreSQL'] as const)('provisioning with SCIM, on %s', (engine) => {
  let cluster: KeysCluster;
  beforeAll(async () => {
    cluster = await startKeysCluster(engine);
    cluster.configure({
      keys: {
        'scim-key': { project: 'directory', role: 'scim' },
        'admin-key': { project: 'office', role: 'admin' },
      },
      scim: { groups: { 'AI Admins': ['admin'] } },
    });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const send = (method: string, path: string, body?: object, key = 'scim-key'): Promise<TestResponse> =>
    sendWithCredentials(cluster.nodes[0], key, `/scim/v2${path}`, {
      method,
      ...(body && { body, headers: { 'content-type': 'application/scim+json; charset=utf-8' } }),
    });
  const create = async (kind: 'Users' | 'Groups', body: object): Promise<Resource> => {
    const { status, json } = await send('POST', `/${kind}`, body);
    expect(status).toBe(201);
    return json as Resource;
  };
  const patch = (path: string, ...operations: object[]) =>
    send('PATCH', path, { schemas: [patchSchema], Operations: operations });
  const createToken = (sub: string) => cluster.issuer.token({ sub, roles: 'maker' });
  const untilKnown = (credentials: string, expected: string) =>
    vi.waitFor(async () => expect(await identifyWithNode(cluster.nodes[1], credentials)).toBe(expected), withinSecond);

  it('creates, reads, replaces, and deletes a user, and keeps attributes that it does not use', async () => {
    const body = {
      schemas: [userSchema],
      userName: 'Lovelace',
      externalId: 'ext-1',
      name: { givenName: 'Ada' },
      password: 'canary',
    };
    const created = await create('Users', body);
    expect(created).toMatchObject({ userName: 'Lovelace', externalId: 'ext-1', active: true, name: { givenName: 'Ada' } });
    expect(created).not.toHaveProperty('password');
    expect((await send('POST', '/Users', { userName: 'lovelace' })).json).toMatchObject({
      status: '409',
      scimType: 'uniqueness',
    });
    const read = await send('GET', `/Users/${created.id}`);
    expect([read.headers['content-type'], read.json]).toEqual(['application/scim+json; charset=utf-8', created]);
    const replaced = await send('PUT', `/Users/${created.id}`, { userName: 'Lovelace', displayName: 'Ada' });
    expect(replaced.json).toMatchObject({ id: created.id, displayName: 'Ada' });
    expect(replaced.json).not.toHaveProperty('name');
    expect((await send('DELETE', `/Users/${created.id}`)).status).toBe(204);
    expect((await send('GET', `/Users/${created.id}`)).json).toMatchObject({ status: '404' });
  });

  it('finds users by name without regard to case, by external ID, and page by page', async () => {
    const ids = [];
    for (const name of ['page-a', 'page-b', 'page-c'])
      ids.push((await create('Users', { userName: name, externalId: `x-${name}` })).id);
    const find = async (query: string) =>
      (await send('GET', `/Users?${query}`)).json as { totalResults: number; Resources: Resource[] };
    expect((await find('filter=userName%20eq%20%22PAGE-B%22')).Resources.map(({ id }) => id)).toEqual([ids[1]]);
    expect((await find('filter=externalId+eq+"x-page-c"')).Resources.map(({ id }) => id)).toEqual([ids[2]]);
    const { totalResults } = await find('count=0');
    const page = await find(`startIndex=${totalResults - 1}&count=1`);
    expect(page).toMatchObject({ totalResults, startIndex: totalResults - 1, itemsPerPage: 1 });
    expect(page.Resources[0]?.id).toBe(ids[1]);
    expect((await send('GET', '/Users?filter=userName+is+"a"')).json).toMatchObject({ status: '400', scimType: 'invalidFilter' });
    for (const id of ids) await send('DELETE', `/Users/${id}`);
  });

  it('finds users and groups with the filters of RFC 7644, in columns and in sealed attributes', async () => {
    const startedAt = new Date(Date.now() - 1000).toISOString();
    const work = (value: string) => ({
      emails: [
        { type: 'work', value },
        { type: 'home', value: 'at@home.example' },
      ],
    });
    const users = await Promise.all([
      create('Users', { userName: 'Find-Ada', externalId: 'X-1', ...work('ada@work.example') }),
      create('Users', { userName: 'find-bob', active: false, ...work('bob@work.example') }),
      create('Users', { userName: 'find-é%_', [enterprise]: { department: 'Engines' } }),
    ]);
    const [ada, , third] = users.map(({ id }) => id);
    const group = await create('Groups', { displayName: 'Find-Group', members: [{ value: ada }] });
    const other = await create('Groups', { displayName: 'Find-Other' });
    const find = async (kind: 'Users' | 'Groups', filter: string) => {
      const { json } = await send('GET', `/${kind}?filter=${encodeURIComponent(filter)}`);
      const { Resources, totalResults } = json as { Resources: Resource[]; totalResults: number };
      expect(totalResults).toBe(Resources.length);
      return Resources.map(({ userName, displayName }) => userName ?? displayName).sort();
    };
    const [all, none] = [['Find-Ada', 'find-bob', 'find-é%_'], []];
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['userName sw "FIND-"', all],
      ['userName ew "É%_"', ['find-é%_']],
      ['userName co "d-b" or externalId eq "X-1"', ['Find-Ada', 'find-bob']],
      ['userName sw "find-" and externalId co "x"', none],
      ['userName sw "find-" and not (externalId pr)', ['find-bob', 'find-é%_']],
      ['userName sw "find-" and externalId ne "X-1"', ['find-bob', 'find-é%_']],
      ['userName gt "find-a" and userName lt "find-c"', ['Find-Ada', 'find-bob']],
      ['active eq false and userName sw "find"', ['find-bob']],
      ['active eq "constructor"', none],
      [`meta.lastModified ge "${startedAt}" and userName sw "find-"`, all],
      ['meta.created lt "2020-01-01T00:00:00Z"', none],
      ['emails[type eq "work"].value eq "bob@work.example"', ['find-bob']],
      ['emails[type eq "work" and value eq "at@home.example"]', none],
      ['userName sw "find-a" and emails.value co "WORK"', ['Find-Ada']],
      [`${enterprise}:department eq "engines" or userName eq "find-bob"`, ['find-bob', 'find-é%_']],
    ];
    for (const [filter, expected] of cases) expect([filter, await find('Users', filter)]).toEqual([filter, expected]);
    // Microsoft Entra ID checks a membership like this.
    expect(await find('Groups', `id eq "${group.id}" and members eq "${ada}"`)).toEqual(['Find-Group']);
    expect(await find('Groups', `id eq "${group.id}" and members[value eq "${third}"]`)).toEqual([]);
    expect(await find('Groups', 'displayName sw "find-" and not (members pr)')).toEqual(['Find-Other']);
    const page = await send('GET', `/Users?filter=${encodeURIComponent('emails.type eq "home"')}&startIndex=2&count=1`);
    expect(page.json).toMatchObject({ totalResults: 2, startIndex: 2, itemsPerPage: 1 });
    for (const { id } of users) await send('DELETE', `/Users/${id}`);
    for (const { id } of [group, other]) await send('DELETE', `/Groups/${id}`);
  });

  it('applies the PATCH requests of Microsoft Entra ID and Okta', async () => {
    const { id } = await create('Users', { userName: 'patched', emails: [{ type: 'home', value: 'h@example.com' }] });
    const fromEntra = await patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'active', value: 'False' },
      { op: 'Add', path: 'emails[type eq "work"].value', value: 'w@example.com' },
      { op: 'Add', path: `${enterprise}:department`, value: 'Engines' },
      { op: 'Replace', value: { 'name.givenName': 'Pat', displayName: 'Pat' } },
    );
    expect(fromEntra.json).toMatchObject({
      active: false,
      name: { givenName: 'Pat' },
      emails: [
        { type: 'home', value: 'h@example.com' },
        { type: 'work', value: 'w@example.com' },
      ],
      [enterprise]: { department: 'Engines' },
    });
    const fromOkta = await patch(
      `/Users/${id}`,
      { op: 'replace', value: { active: true } },
      { op: 'remove', path: 'emails[type eq "home"]' },
    );
    expect(fromOkta.json).toMatchObject({ active: true, emails: [{ type: 'work' }] });
    const changed = await patch(
      `/Users/${id}`,
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'Reader' },
      { op: 'Replace', path: 'emails[type eq "work" and value ew "@example.com"].value', value: 'new@example.com' },
      { op: 'Add', path: 'addresses[type eq "work" and primary eq true].locality', value: 'London' },
      { op: 'Replace', path: `${enterprise}:manager.value`, value: 'm1' },
    );
    expect(changed.json).toMatchObject({
      roles: [{ primary: 'True', value: 'Reader' }],
      emails: [{ type: 'work', value: 'new@example.com' }],
      addresses: [{ type: 'work', primary: true, locality: 'London' }],
      [enterprise]: { department: 'Engines', manager: { value: 'm1' } },
    });
    const unmatched = { op: 'replace', path: 'emails[value co "nothing"].type', value: 'x' };
    expect((await patch(`/Users/${id}`, unmatched)).json).toMatchObject({ status: '400', scimType: 'noTarget' });
    expect((await patch(`/Users/${id}`, { op: 'replace', path: 'a..b', value: 1 })).json).toMatchObject({
      scimType: 'invalidPath',
    });
    expect((await patch(`/Users/${id}`, { op: 'replace', path: '__proto__.x', value: 1 })).status).toBe(400);
    await send('DELETE', `/Users/${id}`);
  });

  it('rejects a body with a content encoding', async () => {
    const headers = { 'content-type': 'application/scim+json', 'content-encoding': 'gzip' };
    const options = { method: 'POST', body: { userName: 'packed' }, headers };
    expect((await sendWithCredentials(cluster.nodes[0], 'scim-key', '/scim/v2/Users', options)).status).toBe(415);
  });

  it('rejects values that are nested so deep that the user could not be read afterwards', async () => {
    const { id } = await create('Users', { userName: 'deep' });
    const value = JSON.parse(`${'['.repeat(61)}${']'.repeat(61)}`);
    const path = `${enterprise}:emails[type eq "work"].value`;
    expect((await patch(`/Users/${id}`, { op: 'add', path, value })).status).toBe(400);
    expect((await send('GET', `/Users/${id}`)).status).toBe(200);
    await send('DELETE', `/Users/${id}`);
  });

  it('treats unusual text as data', async () => {
    const nickName = 'a\0b\ud800c';
    const { id } = await create('Users', { userName: 'unusual', nickName });
    expect((await send('GET', `/Users/${id}`)).json).toMatchObject({ nickName });
    const find = (text: string) => send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${text}"`)}`);
    for (const text of ["a' or 1=1 --", '%', '\u{1f600}'])
      expect((await find(text)).json, text).toMatchObject({ totalResults: 0 });
    for (const text of ['a\\u0000b', '\\ud800'])
      expect((await find(text)).json, text).toMatchObject({ status: '400', scimType: 'invalidFilter' });
    const group = await send('POST', '/Groups', { displayName: 'Unusual', members: [{ value: 'a\0b' }] });
    expect([group.status, group.json]).toEqual([400, expect.objectContaining({ scimType: 'invalidValue' })]);
    const empty = await create('Groups', { displayName: 'Empty' });
    const removal = await patch(`/Groups/${empty.id}`, { op: 'remove', path: 'members[value eq "a\\u0000b"]' });
    expect(removal.json).toMatchObject({ status: '400', scimType: 'invalidPath' });
    await send('DELETE', `/Users/${id}`);
  });

  it('blocks tokens, keys, and streams of a user who is deactivated or deleted, on all nodes', async () => {
    const token = await createToken('Grace');
    const { key } = await createUserKey(cluster.nodes[0], token);
    const { id } = await create('Users', { userName: 'grace' });
    cluster.upstream.script(talkOn);
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const stream = await openStream(cluster.nodes[1].url, { path: '/v1/chat/completions', headers, body });
    await stream.next();
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    await untilKnown(token, '403 user_blocked');
    await untilKnown(key, '403 user_blocked');
    await stream.readRest();
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
    await untilKnown(token, 'Grace');
    await send('DELETE', `/Users/${id}`);
    await untilKnown(token, '403 user_blocked');
    await create('Users', { userName: 'Grace' });
    await untilKnown(token, 'Grace');
  });

  it('keeps a deactivation that happens while another change of the user is sent', async () => {
    const { id } = await create('Users', { userName: 'slow' });
    const [start, rest] = ['{"Operations":[{"op":"replace","path":"displayName","val', 'ue":"Slow"}]}'];
    const { promise: isDeactivated, resolve } = Promise.withResolvers<void>();
    const body = ReadableStream.from(
      (async function* () {
        yield Buffer.from(start);
        await isDeactivated;
        yield Buffer.from(rest);
      })(),
    );
    const slow = fetch(`${cluster.nodes[0].url}/scim/v2/Users/${id}`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer scim-key', 'content-type': 'application/scim+json' },
      body,
      duplex: 'half',
    } as RequestInit);
    await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    resolve();
    expect((await slow).status).toBe(200);
    expect((await send('GET', `/Users/${id}`)).json).toMatchObject({ active: false, displayName: 'Slow' });
    await send('DELETE', `/Users/${id}`);
  });

  it('keeps all of several changes of a user at the same time', async () => {
    const { id } = await create('Users', { userName: 'busy' });
    const paths = ['displayName', 'title', 'nickName', 'locale'];
    const changes = paths.map((path) => patch(`/Users/${id}`, { op: 'replace', path, value: path }));
    const off = patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    expect((await Promise.all([...changes, off])).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const expected = { active: false, ...Object.fromEntries(paths.map((path) => [path, path])) };
    expect((await send('GET', `/Users/${id}`)).json).toMatchObject(expected);
    await send('DELETE', `/Users/${id}`);
  });

  it('does not end the block of an administrator', async () => {
    const token = await createToken('mallory');
    await sendWithCredentials(cluster.nodes[0], 'admin-key', '/v1/admin/blocked-users/mallory', { method: 'PUT', body: {} });
    const { id } = await create('Users', { userName: 'mallory' });
    for (const value of [false, true]) await patch(`/Users/${id}`, { op: 'replace', path: 'active', value });
    await untilKnown(token, '403 user_blocked');
  });

  it('gives the members of a group the roles of the configuration, on all nodes', async () => {
    const token = await createToken('linus');
    const { id } = await create('Users', { userName: 'Linus' });
    const canAdminister = async () => (await sendWithCredentials(cluster.nodes[1], token, '/v1/admin/state')).status;
    const group = await create('Groups', { displayName: 'AI Admins', members: [] });
    expect(await canAdminister()).toBe(403);
    await patch(`/Groups/${group.id}`, { op: 'Add', path: 'members', value: [{ value: id }] });
    await vi.waitFor(async () => expect(await canAdminister()).toBe(200), withinSecond);
    expect((await send('GET', `/Groups/${group.id}`)).json).toMatchObject({ members: [{ value: id, display: 'Linus' }] });
    expect((await send('GET', `/Users/${id}`)).json).toMatchObject({ groups: [{ value: group.id, display: 'AI Admins' }] });
    const excluded = await send('GET', '/Groups?filter=displayName+eq+"ai+admins"&excludedAttributes=members');
    expect((excluded.json as { Resources: Resource[] }).Resources[0]).not.toHaveProperty('members');
    await patch(`/Groups/${group.id}`, { op: 'Remove', path: `members[value eq "someone" or value eq "${id}"]` });
    await vi.waitFor(async () => expect(await canAdminister()).toBe(403), withinSecond);
    await patch(`/Groups/${group.id}`, {
      op: 'replace',
      value: { id: group.id, displayName: 'AI Admins', members: [{ value: id }] },
    });
    await vi.waitFor(async () => expect(await canAdminister()).toBe(200), withinSecond);
    const unknown = await patch(`/Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: 'nobody' }] });
    expect(unknown.json).toMatchObject({ status: '400', scimType: 'invalidValue' });
    expect((await send('DELETE', `/Groups/${group.id}`)).status).toBe(204);
    await vi.waitFor(async () => expect(await canAdminister()).toBe(403), withinSecond);
  });

  it('never returns a partial list of members or groups', async () => {
    const { id } = await create('Users', { userName: 'everywhere' });
    const group = await create('Groups', { displayName: 'Everybody', members: [{ value: id }] });
    const member = { groupId: group.id, groupName: 'Everybody', userId: id, userName: 'everywhere' };
    const listMembers = vi.spyOn(cluster.scimStore, 'listMembers');
    listMembers.mockImplementation(async (_of, limit) => Array.from({ length: limit }, () => member));
    try {
      const tooMany = { status: '400', scimType: 'tooMany' };
      expect((await send('GET', '/Users')).json).toMatchObject(tooMany);
      expect((await send('GET', '/Groups')).json).toMatchObject(tooMany);
      expect((await send('GET', `/Groups/${group.id}`)).json).toMatchObject(tooMany);
      expect((await send('GET', `/Groups/${group.id}?excludedAttributes=members`)).status).toBe(200);
      const changed = await patch(`/Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: id }] });
      expect(changed.status).toBe(200);
      expect(changed.json).not.toHaveProperty('members');
    } finally {
      listMembers.mockRestore();
    }
  });

  it('describes itself, and rejects other keys and large bodies', async () => {
    expect((await send('GET', '/ServiceProviderConfig')).json).toMatchObject({ patch: { supported: true } });
    expect((await send('GET', '/ResourceTypes')).json).toMatchObject({ totalResults: 2 });
    expect((await send('GET', `/Schemas/${userSchema}`)).json).toMatchObject({ name: 'User' });
    expect((await send('GET', '/Users', undefined, 'admin-key')).json).toMatchObject({ status: '403' });
    expect((await send('POST', '/Users', { userName: 'large', note: 'x'.repeat(70_000) })).status).toBe(413);
    expect((await send('POST', '/Users', { userName: '' })).json).toMatchObject({ status: '400', scimType: 'invalidValue' });
  });
});
