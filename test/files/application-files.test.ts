import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { plainCompletion } from '#test/chunks.ts';
import {
  eventsReply,
  jsonReply,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath } from '#test/start-service.ts';
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

function sendAs(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const headers = { 'api-key': key, ...(body !== undefined && { 'content-type': type }) };
  return sendRequest(files.url, { method, path, headers, body });
}

interface Buckets {
  readonly bucket: string;
  readonly appdata: string;
}

async function readBuckets(key: string): Promise<Buckets> {
  const { status, json } = await sendAs(key, 'GET', '/v1/bucket');
  expect(status).toBe(200);
  return json as Buckets;
}

const toBody = (...urls: string[]) => ({
  messages: [
    {
      role: 'user',
      content: 'x',
      custom_content: { attachments: urls.map((url, index) => ({ index, type: 'text/plain', url })) },
    },
  ],
});
const plainBody = { messages: [{ role: 'user', content: 'x' }] };

type Work<Result> = (key: string, exchange: UpstreamExchange) => Promise<Result>;

/** Makes a deployment answer a call, and returns the response and the result of `work` with its per-request key. */
async function call<Result>(
  { key = callerKey, deployment = 'app', body = plainBody }: { key?: string; deployment?: string; body?: object },
  work: Work<Result>,
  reply: () => object = () => plainCompletion('done'),
): Promise<{ done: Result; answer: TestResponse }> {
  let done: Promise<Result> | undefined;
  host.script(async (exchange) => {
    done = work(String(exchange.received.headers['api-key']), exchange);
    await done.catch(() => undefined);
    jsonReply(reply())(exchange);
  });
  const path = getChatPath(encodeURIComponent(deployment));
  const answer = await sendRequest(files.url, { path, headers: { 'api-key': key, 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(200);
  return { done: await (done ?? expect.unreachable()), answer };
}

const getStatuses = async (key: string, requests: readonly (readonly [string, string, unknown?])[]): Promise<number[]> => {
  const statuses: number[] = [];
  for (const [method, path, body] of requests) statuses.push((await sendAs(key, method, path, body)).status);
  return statuses;
};

const grantPath = '/v1/ops/resource/per-request-permissions/grant';
const revokePath = '/v1/ops/resource/per-request-permissions/revoke';
const listPath = '/v1/ops/resource/per-request-permissions/list';
const createGrant = (url: string, permissions: readonly string[], receiver = 'second') => ({
  resourcePermissions: [{ url, permissions }],
  receiver,
});

describe('the storage locations of an application during a call', () => {
  it('are its own bucket for all users, and a folder in the bucket of the user', async () => {
    const { done: mine } = await call({}, readBuckets);
    const { done: theirs } = await call({ key: 'other-key' }, readBuckets);
    const { done: another } = await call({ deployment: 'second' }, readBuckets);
    expect(mine.appdata).toBe(`${files.bucket}/appdata/app`);
    expect(theirs).toEqual({ bucket: mine.bucket, appdata: `${getBucket('key:other')}/appdata/app` });
    expect(another.bucket).not.toBe(mine.bucket);
    expect([mine.bucket, another.bucket]).not.toContain(files.bucket);
    expect((await sendAs(callerKey, 'GET', '/v1/bucket')).json).toEqual({ bucket: files.bucket });
  });

  it('retain the segments of an ID with slashes', async () => {
    const { done } = await call({ deployment: 'team/a b' }, async (key) => {
      const { appdata } = await readBuckets(key);
      return [appdata, (await sendAs(key, 'PUT', `/v1/files/${appdata}/x`, 'x')).status];
    });
    expect(done).toEqual([`${files.bucket}/appdata/team/a%20b`, 200]);
  });

  it('can be read, written, listed, moved, and deleted during the call', async () => {
    const { done } = await call({}, async (key) => {
      const { bucket, appdata } = await readBuckets(key);
      const results: unknown[] = [];
      for (const location of [appdata, bucket]) {
        const [putResponse, getResponse, listing, moveResponse, deleted] = [
          await sendAs(key, 'PUT', `/v1/files/${location}/in/report.txt`, 'made by the application'),
          await sendAs(key, 'GET', `/v1/files/${location}/in/report.txt`),
          await sendAs(key, 'GET', `/v1/metadata/files/${location}/?recursive=true&permissions=true`),
          await sendAs(key, 'POST', '/v1/ops/resource/move', {
            sourceUrl: `files/${location}/in/report.txt`,
            destinationUrl: `files/${location}/report.txt`,
          }),
          await sendAs(key, 'DELETE', `/v1/files/${location}/report.txt`),
        ];
        const { items } = listing.json as { items: { permissions: string[] }[] };
        results.push([putResponse.status, getResponse.text, items[0]?.permissions, moveResponse.status, deleted.status]);
      }
      return { results, key };
    });
    const expected = [200, 'made by the application', ['READ', 'WRITE'], 200, 204];
    expect(done.results).toEqual([expected, expected]);
    expect((await sendAs(done.key, 'GET', '/v1/bucket')).status).toBe(401);
  });

  it('exclude other files of the user, and files of other applications', async () => {
    const { done: second } = await call({ deployment: 'second' }, async (key) => {
      const buckets = await readBuckets(key);
      for (const location of [buckets.appdata, buckets.bucket])
        await sendAs(key, 'PUT', `/v1/files/${location}/secret`, 'of the second');
      return buckets;
    });
    const { done } = await call({}, (key) =>
      getStatuses(key, [
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

  it("belong to the user if they are in the user's bucket, so that the user can read attachments from there", async () => {
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
        const { appdata } = await readBuckets(key);
        url = `files/${appdata}/report.txt`;
        await sendAs(key, 'PUT', `/v1/${url}`, 'for the user');
      },
      attach,
    );
    expect(answer.text).toContain(url);
    expect((await sendAs(callerKey, 'GET', `/v1/${url}`)).text).toBe('for the user');
    expect((await sendAs('other-key', 'GET', `/v1/${url}`)).status).toBe(403);
  });

  it('can be shared with an inner application by reference', async () => {
    const { done } = await call({}, async (outer) => {
      const { bucket } = await readBuckets(outer);
      for (const name of ['named', 'other']) await sendAs(outer, 'PUT', `/v1/files/${bucket}/${name}`, name);
      const requests = ['named', 'other'].map((name) => ['GET', `/v1/files/${bucket}/${name}`] as const);
      const body = toBody(`files/${bucket}/named`);
      return (await call({ key: outer, deployment: 'second', body }, (key) => getStatuses(key, requests))).done;
    });
    expect(done).toEqual([200, 403]);
  });
});

describe('a file that the reply of an inner call attaches', () => {
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
  ])('can be read with the per-request key of the calling application: %s', async (_, toContent) => {
    const { done } = await call({}, async (outer) => {
      let url = '';
      const before = await call(
        { key: outer, deployment: 'second' },
        async (key) => {
          url = `files/${(await readBuckets(key)).bucket}/result.txt`;
          await sendAs(key, 'PUT', `/v1/${url}`, 'made within');
          return (await sendAs(outer, 'GET', `/v1/${url}`)).status;
        },
        () => replyWith(toContent(url))(),
      );
      return [
        before.done,
        (await sendAs(outer, 'GET', `/v1/${url}`)).text,
        (await sendAs(outer, 'PUT', `/v1/${url}`, 'x')).status,
        url,
      ];
    });
    expect(done.slice(0, 3)).toEqual([403, 'made within', 403]);
    expect((await sendAs(callerKey, 'GET', `/v1/${done[3]}`)).status).toBe(403);
  });

  it('can be read as soon as the stream contains its reference', async () => {
    const { done } = await call({}, async (outer) => {
      let url = '';
      host.script(async (exchange) => {
        const key = String(exchange.received.headers['api-key']);
        url = `files/${(await readBuckets(key)).bucket}/streamed.txt`;
        await sendAs(key, 'PUT', `/v1/${url}`, 'made within');
        const chunk = (delta: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason }] });
        await eventsReply(
          chunk({ role: 'assistant', content: 'a' }),
          chunk({ custom_content: { attachments: [{ index: 0, type: 'text/plain', url }] } }),
          chunk({ content: 'b' }),
          chunk({}, 'stop'),
        )(exchange);
      });
      const reader = await files.service.stream('second', plainBody, { 'api-key': outer });
      for (let data = await reader.next(); data !== undefined; data = await reader.next())
        if (data.includes('streamed.txt')) return (await sendAs(outer, 'GET', `/v1/${url}`)).text;
      return undefined;
    });
    expect(done).toBe('made within');
  });

  it('grants no access that the inner application does not have', async () => {
    const { done } = await call({}, async (outer) => {
      const url = `files/${files.bucket}/kept`;
      await call({ key: outer, deployment: 'second' }, async () => undefined, replyWith({ attachments: [{ index: 0, url }] }));
      return (await sendAs(outer, 'GET', `/v1/${url}`)).status;
    });
    expect(done).toBe(403);
  });

  it('can be read by every application of the call chain that relays it', async () => {
    const { done } = await call({}, async (outer) => {
      let url = '';
      const attach = () => replyWith({ attachments: [{ index: 0, type: 'text/plain', url }] })();
      await call(
        { key: outer, deployment: 'second' },
        async (middle) => {
          await call(
            { key: middle, deployment: 'third' },
            async (key) => {
              url = `files/${(await readBuckets(key)).bucket}/deep.txt`;
              await sendAs(key, 'PUT', `/v1/${url}`, 'from below');
            },
            attach,
          );
        },
        attach,
      );
      return (await sendAs(outer, 'GET', `/v1/${url}`)).text;
    });
    expect(done).toBe('from below');
  });
});

describe('permissions that are granted for a call', () => {
  it('give the receiver the granted access until they are revoked', async () => {
    const { done } = await call({}, async (outer) => {
      const { appdata } = await readBuckets(outer);
      const url = `files/${appdata}/shared.txt`;
      await sendAs(outer, 'PUT', `/v1/${url}`, 'shared');
      const requests = [
        ['GET', `/v1/${url}`],
        ['PUT', `/v1/${url}`, 'shared, and changed'],
      ] as const;
      const callReceiver = async (deployment = 'second') =>
        (await call({ key: outer, deployment }, (key) => getStatuses(key, requests))).done;
      const outcomes: unknown[] = [await callReceiver()];
      const granted = await sendAs(outer, 'POST', grantPath, createGrant(url, ['READ']));
      outcomes.push([granted.status, granted.text], await callReceiver(), await callReceiver('third'));
      await sendAs(outer, 'POST', grantPath, createGrant(url, ['WRITE']));
      outcomes.push(
        await callReceiver(),
        (await sendAs(outer, 'POST', listPath, {})).json,
        (await sendAs(outer, 'POST', listPath, { receiver: 'third' })).json,
      );
      outcomes.push(
        (await sendAs(outer, 'POST', revokePath, createGrant(url, ['READ', 'WRITE']))).status,
        await callReceiver(),
        (await sendAs(outer, 'POST', listPath, {})).json,
      );
      return { seen: outcomes, url };
    });
    const { seen: outcomes, url } = done;
    expect(outcomes).toEqual([
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

  it('to a folder cover its contents and its listing, also with the older field name', async () => {
    const { done } = await call({}, async (outer) => {
      const { bucket } = await readBuckets(outer);
      await sendAs(outer, 'PUT', `/v1/files/${bucket}/a/b/c`, 'deep');
      await sendAs(outer, 'PUT', `/v1/files/${bucket}/ab`, 'beside');
      const { resourcePermissions, receiver } = createGrant(`files/${bucket}/a/`, ['READ']);
      expect((await sendAs(outer, 'POST', grantPath, { resources: resourcePermissions, receiver })).status).toBe(200);
      return (
        await call({ key: outer, deployment: 'second' }, (key) =>
          getStatuses(key, [
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

  it('are granted completely or not at all, and never beyond the access of the grantor', async () => {
    const { done } = await call({ body: toBody(`files/${files.bucket}/given`) }, async (outer) => {
      const { appdata } = await readBuckets(outer);
      const grants = [
        createGrant(`files/${files.bucket}/given`, ['READ']),
        createGrant(`files/${files.bucket}/given`, ['READ', 'WRITE']),
        createGrant(`files/${files.bucket}/kept`, ['READ']),
        createGrant(`files/${files.bucket}/`, ['READ']),
        createGrant(`applications/${files.bucket}/x`, ['READ']),
        {
          ...createGrant('x', ['READ']),
          resourcePermissions: [
            ...createGrant(`files/${appdata}/x`, ['READ']).resourcePermissions,
            ...createGrant(`files/${files.bucket}/kept`, ['READ']).resourcePermissions,
          ],
        },
      ];
      const statuses: number[] = [];
      for (const body of grants) statuses.push((await sendAs(outer, 'POST', grantPath, body)).status);
      return [
        statuses,
        ((await sendAs(outer, 'POST', listPath, {})).json as { resourcePermissions: unknown[] }).resourcePermissions.length,
      ];
    });
    expect(done).toEqual([[200, 403, 403, 403, 403, 403], 1]);
  });

  it('can be granted to further applications by their receiver only', async () => {
    const { done } = await call({}, async (outer) => {
      const { bucket } = await readBuckets(outer);
      const url = `files/${bucket}/passed`;
      await sendAs(outer, 'PUT', `/v1/${url}`, 'passed');
      await sendAs(outer, 'POST', grantPath, createGrant(url, ['READ']));
      return (
        await call({ key: outer, deployment: 'second' }, async (middle) => {
          const getResponse = async () =>
            (await call({ key: middle, deployment: 'third' }, (key) => getStatuses(key, [['GET', `/v1/${url}`]]))).done;
          const before = await getResponse();
          const write = (await sendAs(middle, 'POST', grantPath, createGrant(url, ['WRITE'], 'third'))).status;
          await sendAs(middle, 'POST', grantPath, createGrant(url, ['READ'], 'third'));
          return [before, write, await getResponse()];
        })
      ).done;
    });
    expect(done).toEqual([[403], 403, [200]]);
  });

  it('are rejected for callers without a per-request key', async () => {
    for (const path of [grantPath, revokePath, listPath]) {
      const { status, error } = await sendAs(callerKey, 'POST', path, createGrant(`files/${files.bucket}/kept`, ['READ']));
      expect([status, error.code]).toEqual([403, 'access_denied']);
    }
  });

  it('are rejected with the path of the error if they are malformed', async () => {
    const valid = { url: `files/${files.bucket}/given`, permissions: ['READ'] };
    const cases: [unknown, string][] = [
      [{ receiver: 'second' }, 'resourcePermissions'],
      [{ resourcePermissions: [], receiver: 'second' }, 'resourcePermissions'],
      [{ resourcePermissions: [valid] }, 'receiver'],
      [{ resourcePermissions: [valid], receiver: '' }, 'receiver'],
      [{ resourcePermissions: [valid], receiver: 'a/../b' }, 'receiver'],
      [{ resourcePermissions: [valid], receiver: 'a\0' }, 'receiver'],
      [{ resourcePermissions: [valid, { url: 'x' }], receiver: 'second' }, 'resourcePermissions[1].permissions'],
      [{ resourcePermissions: [{ ...valid, permissions: [] }], receiver: 'second' }, 'resourcePermissions[0].permissions'],
      [
        { resourcePermissions: [{ ...valid, permissions: ['SHARE'] }], receiver: 'second' },
        'resourcePermissions[0].permissions[0]',
      ],
      [{ resourcePermissions: [{ ...valid, url: 'files/b/%00' }], receiver: 'second' }, 'resourcePermissions[0].url'],
      [
        `{"resourcePermissions": [{"url": "a", "url": "b", "permissions": ["READ"]}], "receiver": "second"}`,
        'resourcePermissions[0].url',
      ],
    ];
    const { done } = await call({ body: toBody(valid.url) }, async (key) => {
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
