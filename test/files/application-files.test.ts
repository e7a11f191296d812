import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { plainCompletion } from '#test/chunks.ts';
import { type Answering, eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, chatPath } from '#test/start-service.ts';
import { type FileService, startFilesOnDisk } from './support.ts';

let host: ScriptedUpstream;
let files: FileService;

beforeAll(async () => {
  host = await startScriptedUpstream();
  files = await startFilesOnDisk(
    {},
    {
      applications: {
        app: { endpoint: `${host.url}/app` },
        second: { endpoint: `${host.url}/second` },
        third: { endpoint: `${host.url}/third` },
        'team/a b': { endpoint: `${host.url}/team` },
      },
      keys: { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } },
    },
  );
  for (const name of ['given', 'kept']) await files.put(name, `content of ${name}`);
});

afterAll(async () => {
  await files[Symbol.asyncDispose]();
  await host.close();
});

function as(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const headers = { 'api-key': key, ...(body !== undefined && { 'content-type': type }) };
  return sendRequest(files.url, { method, path, headers, body });
}

interface Buckets {
  readonly bucket: string;
  readonly appdata: string;
}

async function bucketsOf(key: string): Promise<Buckets> {
  const { status, json } = await as(key, 'GET', '/v1/bucket');
  expect(status).toBe(200);
  return json as Buckets;
}

const attachedTo = (...urls: string[]) => ({
  messages: [
    {
      role: 'user',
      content: 'x',
      custom_content: { attachments: urls.map((url, index) => ({ index, type: 'text/plain', url })) },
    },
  ],
});
const plain = { messages: [{ role: 'user', content: 'x' }] };

type Work<Done> = (key: string, answering: Answering) => Promise<Done>;

/** Has a deployment answer a call with a key; what it does with its own key meanwhile is given, with the answer. */
async function call<Done>(
  { key = callerKey, deployment = 'app', body = plain }: { key?: string; deployment?: string; body?: object },
  work: Work<Done>,
  reply: () => object = () => plainCompletion('done'),
): Promise<{ done: Done; answer: TestResponse }> {
  let done: Promise<Done> | undefined;
  host.script(async (answering) => {
    done = work(String(answering.received.headers['api-key']), answering);
    await done.catch(() => undefined);
    jsonReply(reply())(answering);
  });
  const path = chatPath(encodeURIComponent(deployment));
  const answer = await sendRequest(files.url, { path, headers: { 'api-key': key, 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(200);
  return { done: await (done ?? expect.unreachable()), answer };
}

const statusesOf = async (key: string, asked: readonly (readonly [string, string, unknown?])[]): Promise<number[]> => {
  const statuses: number[] = [];
  for (const [method, path, body] of asked) statuses.push((await as(key, method, path, body)).status);
  return statuses;
};

const grantPath = '/v1/ops/resource/per-request-permissions/grant';
const revokePath = '/v1/ops/resource/per-request-permissions/revoke';
const listPath = '/v1/ops/resource/per-request-permissions/list';
const grantOf = (url: string, permissions: readonly string[], receiver = 'second') => ({
  resourcePermissions: [{ url, permissions }],
  receiver,
});

describe('the places of an application that answers', () => {
  it('are its own bucket for every user, and a folder in the user’s bucket', async () => {
    const { done: mine } = await call({}, bucketsOf);
    const { done: theirs } = await call({ key: 'other-key' }, bucketsOf);
    const { done: another } = await call({ deployment: 'second' }, bucketsOf);
    expect(mine.appdata).toBe(`${files.bucket}/appdata/app`);
    expect(theirs).toEqual({ bucket: mine.bucket, appdata: `${getBucket('key:other')}/appdata/app` });
    expect(another.bucket).not.toBe(mine.bucket);
    expect([mine.bucket, another.bucket]).not.toContain(files.bucket);
    expect((await as(callerKey, 'GET', '/v1/bucket')).json).toEqual({ bucket: files.bucket });
  });

  it('keep the segments of an id with slashes', async () => {
    const { done } = await call({ deployment: 'team/a b' }, async (key) => {
      const { appdata } = await bucketsOf(key);
      return [appdata, (await as(key, 'PUT', `/v1/files/${appdata}/x`, 'x')).status];
    });
    expect(done).toEqual([`${files.bucket}/appdata/team/a%20b`, 200]);
  });

  it('are read, written, listed and deleted in, while the call lasts', async () => {
    const { done } = await call({}, async (key) => {
      const { bucket, appdata } = await bucketsOf(key);
      const results: unknown[] = [];
      for (const place of [appdata, bucket]) {
        const [stored, read, listed, moved, deleted] = [
          await as(key, 'PUT', `/v1/files/${place}/in/report.txt`, 'made by the application'),
          await as(key, 'GET', `/v1/files/${place}/in/report.txt`),
          await as(key, 'GET', `/v1/metadata/files/${place}/?recursive=true&permissions=true`),
          await as(key, 'POST', '/v1/ops/resource/move', {
            sourceUrl: `files/${place}/in/report.txt`,
            destinationUrl: `files/${place}/report.txt`,
          }),
          await as(key, 'DELETE', `/v1/files/${place}/report.txt`),
        ];
        const { items } = listed.json as { items: { permissions: string[] }[] };
        results.push([stored.status, read.text, items[0]?.permissions, moved.status, deleted.status]);
      }
      return { results, key };
    });
    const whole = [200, 'made by the application', ['READ', 'WRITE'], 200, 204];
    expect(done.results).toEqual([whole, whole]);
    expect((await as(done.key, 'GET', '/v1/bucket')).status).toBe(401);
  });

  it('exclude other files of the user and of other applications', async () => {
    const { done: second } = await call({ deployment: 'second' }, async (key) => {
      const buckets = await bucketsOf(key);
      for (const place of [buckets.appdata, buckets.bucket]) await as(key, 'PUT', `/v1/files/${place}/secret`, 'of the second');
      return buckets;
    });
    const { done } = await call({}, (key) =>
      statusesOf(key, [
        ['GET', `/v1/files/${files.bucket}/kept`],
        ['PUT', `/v1/files/${files.bucket}/kept`, 'changed'],
        ['PUT', `/v1/files/${files.bucket}/appdata/app`, 'beside the folder'],
        ['PUT', `/v1/files/${files.bucket}/appdata/app2/x`, 'beside the folder'],
        ['PUT', `/v1/files/${files.bucket}/appdata/app%2F..%2Fx`, 'a way round'],
        ['GET', `/v1/metadata/files/${files.bucket}/appdata/`],
        ['GET', `/v1/files/${second.appdata}/secret`],
        ['GET', `/v1/files/${second.bucket}/secret`],
        ['GET', `/v1/metadata/files/${second.bucket}/`],
        ['PUT', `/v1/prompts/${files.bucket}/appdata/app/x`, { id: 'i', folderId: 'f', name: 'n', content: 'c' }],
        ['GET', `/v1/metadata/conversations/${files.bucket}/`],
        ['GET', `/v1/metadata/applications/${files.bucket}/`],
        [
          'POST',
          '/v1/ops/resource/copy',
          { sourceUrl: `files/${files.bucket}/kept`, destinationUrl: `files/${files.bucket}/appdata/app/x` },
        ],
      ]),
    );
    expect(done).toEqual([403, 403, 403, 403, 404, 403, 403, 403, 403, 403, 403, 403, 403]);
    expect((await files.get('kept')).text).toBe('content of kept');
  });

  it('belong to the user in the user’s bucket, who can read attachments from there', async () => {
    let url = '';
    const attach = () => {
      const completion = plainCompletion('done');
      const attachments = [{ index: 0, type: 'text/plain', title: 'report', url }];
      return {
        ...completion,
        choices: [
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x', custom_content: { attachments } } },
        ],
      };
    };
    const { answer } = await call(
      {},
      async (key) => {
        const { appdata } = await bucketsOf(key);
        url = `files/${appdata}/report.txt`;
        await as(key, 'PUT', `/v1/${url}`, 'for the user');
      },
      attach,
    );
    expect(answer.text).toContain(url);
    expect((await as(callerKey, 'GET', `/v1/${url}`)).text).toBe('for the user');
    expect((await as('other-key', 'GET', `/v1/${url}`)).status).toBe(403);
  });

  it('are places that the application may name to another one that it calls', async () => {
    const { done } = await call({}, async (outer) => {
      const { bucket } = await bucketsOf(outer);
      for (const name of ['named', 'other']) await as(outer, 'PUT', `/v1/files/${bucket}/${name}`, name);
      const asked = ['named', 'other'].map((name) => ['GET', `/v1/files/${bucket}/${name}`] as const);
      const body = attachedTo(`files/${bucket}/named`);
      return (await call({ key: outer, deployment: 'second', body }, (key) => statusesOf(key, asked))).done;
    });
    expect(done).toEqual([200, 403]);
  });
});

describe('a file that an inner reply attaches', () => {
  const replyWith = (custom_content: object) => () => ({
    ...plainCompletion('inner'),
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x', custom_content } }],
  });

  it.each([
    ['an attachment', (url: string) => ({ attachments: [{ index: 0, type: 'text/plain', url }] })],
    ['the reference of an attachment', (url: string) => ({ attachments: [{ index: 0, data: 'x', reference_url: url }] })],
    [
      'an attachment of a stage',
      (url: string) => ({ stages: [{ index: 0, name: 's', status: 'completed', attachments: [{ index: 0, url }] }] }),
    ],
  ])('can be read with the key that the reply went to: %s', async (_, toContent) => {
    const { done } = await call({}, async (outer) => {
      let url = '';
      const before = await call(
        { key: outer, deployment: 'second' },
        async (key) => {
          url = `files/${(await bucketsOf(key)).bucket}/result.txt`;
          await as(key, 'PUT', `/v1/${url}`, 'made within');
          return (await as(outer, 'GET', `/v1/${url}`)).status;
        },
        () => replyWith(toContent(url))(),
      );
      return [before.done, (await as(outer, 'GET', `/v1/${url}`)).text, (await as(outer, 'PUT', `/v1/${url}`, 'x')).status, url];
    });
    expect(done.slice(0, 3)).toEqual([403, 'made within', 403]);
    expect((await as(callerKey, 'GET', `/v1/${done[3]}`)).status).toBe(403);
  });

  it('can be read as soon as the stream has told of it', async () => {
    const { done } = await call({}, async (outer) => {
      let url = '';
      host.script(async (answering) => {
        const key = String(answering.received.headers['api-key']);
        url = `files/${(await bucketsOf(key)).bucket}/streamed.txt`;
        await as(key, 'PUT', `/v1/${url}`, 'made within');
        const chunk = (delta: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason }] });
        await eventsReply(
          chunk({ role: 'assistant', content: 'a' }),
          chunk({ custom_content: { attachments: [{ index: 0, type: 'text/plain', url }] } }),
          chunk({ content: 'b' }),
          chunk({}, 'stop'),
        )(answering);
      });
      const streamed = await files.service.stream('second', plain, { 'api-key': outer });
      for (let data = await streamed.next(); data !== undefined; data = await streamed.next())
        if (data.includes('streamed.txt')) return (await as(outer, 'GET', `/v1/${url}`)).text;
      return undefined;
    });
    expect(done).toBe('made within');
  });

  it('gives no right that the inner application does not have', async () => {
    const { done } = await call({}, async (outer) => {
      const url = `files/${files.bucket}/kept`;
      await call({ key: outer, deployment: 'second' }, async () => undefined, replyWith({ attachments: [{ index: 0, url }] }));
      return (await as(outer, 'GET', `/v1/${url}`)).status;
    });
    expect(done).toBe(403);
  });

  it('can be read by every caller of the chain', async () => {
    const { done } = await call({}, async (outer) => {
      let url = '';
      const attach = () => replyWith({ attachments: [{ index: 0, type: 'text/plain', url }] })();
      await call(
        { key: outer, deployment: 'second' },
        async (middle) => {
          await call(
            { key: middle, deployment: 'third' },
            async (key) => {
              url = `files/${(await bucketsOf(key)).bucket}/deep.txt`;
              await as(key, 'PUT', `/v1/${url}`, 'from below');
            },
            attach,
          );
        },
        attach,
      );
      return (await as(outer, 'GET', `/v1/${url}`)).text;
    });
    expect(done).toBe('from below');
  });
});

describe('permissions for the duration of a call', () => {
  it('give the receiver the rights of the grantor until they are revoked', async () => {
    const { done } = await call({}, async (outer) => {
      const { appdata } = await bucketsOf(outer);
      const url = `files/${appdata}/shared.txt`;
      await as(outer, 'PUT', `/v1/${url}`, 'shared');
      const asked = [
        ['GET', `/v1/${url}`],
        ['PUT', `/v1/${url}`, 'shared, and changed'],
      ] as const;
      const tryIt = async (deployment = 'second') =>
        (await call({ key: outer, deployment }, (key) => statusesOf(key, asked))).done;
      const seen: unknown[] = [await tryIt()];
      const granted = await as(outer, 'POST', grantPath, grantOf(url, ['READ']));
      seen.push([granted.status, granted.text], await tryIt(), await tryIt('third'));
      await as(outer, 'POST', grantPath, grantOf(url, ['WRITE']));
      seen.push(
        await tryIt(),
        (await as(outer, 'POST', listPath, {})).json,
        (await as(outer, 'POST', listPath, { receiver: 'third' })).json,
      );
      seen.push(
        (await as(outer, 'POST', revokePath, grantOf(url, ['READ', 'WRITE']))).status,
        await tryIt(),
        (await as(outer, 'POST', listPath, {})).json,
      );
      return { seen, url };
    });
    const { seen, url } = done;
    expect(seen).toEqual([
      [403, 403],
      [200, ''],
      [200, 403],
      [403, 403],
      [200, 200],
      { resourcePermissions: [{ receiver: 'second', url, permissions: ['READ', 'WRITE'] }] },
      { resourcePermissions: [] },
      200,
      [403, 403],
      { resourcePermissions: [] },
    ]);
  });

  it('of a folder cover its contents and its list, also with the older field name', async () => {
    const { done } = await call({}, async (outer) => {
      const { bucket } = await bucketsOf(outer);
      await as(outer, 'PUT', `/v1/files/${bucket}/a/b/c`, 'deep');
      await as(outer, 'PUT', `/v1/files/${bucket}/ab`, 'beside');
      const { resourcePermissions, receiver } = grantOf(`files/${bucket}/a/`, ['READ']);
      expect((await as(outer, 'POST', grantPath, { resources: resourcePermissions, receiver })).status).toBe(200);
      return (
        await call({ key: outer, deployment: 'second' }, (key) =>
          statusesOf(key, [
            ['GET', `/v1/files/${bucket}/a/b/c`],
            ['GET', `/v1/metadata/files/${bucket}/a/`],
            ['GET', `/v1/files/${bucket}/ab`],
            ['GET', `/v1/metadata/files/${bucket}/`],
            ['PUT', `/v1/files/${bucket}/a/b/c`, 'changed'],
          ]),
        )
      ).done;
    });
    expect(done).toEqual([200, 200, 403, 403, 403]);
  });

  it('are granted completely or not at all, and only from the rights of the grantor', async () => {
    const { done } = await call({ body: attachedTo(`files/${files.bucket}/given`) }, async (outer) => {
      const { appdata } = await bucketsOf(outer);
      const tried = [
        grantOf(`files/${files.bucket}/given`, ['READ']),
        grantOf(`files/${files.bucket}/given`, ['READ', 'WRITE']),
        grantOf(`files/${files.bucket}/kept`, ['READ']),
        grantOf(`files/${files.bucket}/`, ['READ']),
        grantOf(`applications/${files.bucket}/x`, ['READ']),
        {
          ...grantOf('x', ['READ']),
          resourcePermissions: [
            ...grantOf(`files/${appdata}/x`, ['READ']).resourcePermissions,
            ...grantOf(`files/${files.bucket}/kept`, ['READ']).resourcePermissions,
          ],
        },
      ];
      const statuses: number[] = [];
      for (const body of tried) statuses.push((await as(outer, 'POST', grantPath, body)).status);
      return [
        statuses,
        ((await as(outer, 'POST', listPath, {})).json as { resourcePermissions: unknown[] }).resourcePermissions.length,
      ];
    });
    expect(done).toEqual([[200, 403, 403, 403, 403, 403], 1]);
  });

  it('can be granted on by who received them, not by who did not', async () => {
    const { done } = await call({}, async (outer) => {
      const { bucket } = await bucketsOf(outer);
      const url = `files/${bucket}/passed`;
      await as(outer, 'PUT', `/v1/${url}`, 'passed');
      await as(outer, 'POST', grantPath, grantOf(url, ['READ']));
      return (
        await call({ key: outer, deployment: 'second' }, async (middle) => {
          const read = async () =>
            (await call({ key: middle, deployment: 'third' }, (key) => statusesOf(key, [['GET', `/v1/${url}`]]))).done;
          const before = await read();
          const write = (await as(middle, 'POST', grantPath, grantOf(url, ['WRITE'], 'third'))).status;
          await as(middle, 'POST', grantPath, grantOf(url, ['READ'], 'third'));
          return [before, write, await read()];
        })
      ).done;
    });
    expect(done).toEqual([[403], 403, [200]]);
  });

  it('are rejected for callers without a per-request key', async () => {
    for (const path of [grantPath, revokePath, listPath]) {
      const { status, error } = await as(callerKey, 'POST', path, grantOf(`files/${files.bucket}/kept`, ['READ']));
      expect([status, error.code]).toEqual([403, 'access_denied']);
    }
  });

  it('that are malformed are refused with the path', async () => {
    const good = { url: `files/${files.bucket}/given`, permissions: ['READ'] };
    const cases: [unknown, string][] = [
      [{ receiver: 'second' }, 'resourcePermissions'],
      [{ resourcePermissions: [], receiver: 'second' }, 'resourcePermissions'],
      [{ resourcePermissions: [good] }, 'receiver'],
      [{ resourcePermissions: [good], receiver: '' }, 'receiver'],
      [{ resourcePermissions: [good], receiver: 'a/../b' }, 'receiver'],
      [{ resourcePermissions: [good], receiver: 'a\0' }, 'receiver'],
      [{ resourcePermissions: [good, { url: 'x' }], receiver: 'second' }, 'resourcePermissions[1].permissions'],
      [{ resourcePermissions: [{ ...good, permissions: [] }], receiver: 'second' }, 'resourcePermissions[0].permissions'],
      [
        { resourcePermissions: [{ ...good, permissions: ['SHARE'] }], receiver: 'second' },
        'resourcePermissions[0].permissions[0]',
      ],
      [{ resourcePermissions: [{ ...good, url: 'files/b/%00' }], receiver: 'second' }, 'resourcePermissions[0].url'],
      [
        `{"resourcePermissions": [{"url": "a", "url": "b", "permissions": ["READ"]}], "receiver": "second"}`,
        'resourcePermissions[0].url',
      ],
    ];
    const { done } = await call({ body: attachedTo(good.url) }, async (key) => {
      const params: unknown[] = [];
      for (const [body] of cases) {
        const headers = { 'api-key': key, 'content-type': 'application/json' };
        const { status, error } = await sendRequest(files.url, { path: grantPath, headers, body });
        params.push([status, error.param]);
      }
      return params;
    });
    expect(done).toEqual(cases.map(([, param]) => [400, param]));
  });
});
