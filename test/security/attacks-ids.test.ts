import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { hello } from '#test/chunks.ts';
import type { TestResponse } from '#test/send-request.ts';
import { getApplicationPath, quickApp } from '../applications/support.ts';
import { requireSane } from './fuzz-support.ts';
import { type FullService, startFullService } from './support.ts';

const victim = getBucket('key:victim');
const thief = getBucket('key:thief');
const canary = 'canary-of-the-victim';
let fullService: FullService;

beforeAll(async () => {
  fullService = await startFullService((url) => ({
    models: {
      gpt: { upstreams: [{ endpoint: `${url}/v1` }] },
      'closed/inner': { upstreams: [{ endpoint: `${url}/v1` }], userRoles: ['staff'], displayName: canary },
    },
    keys: { 'victim-key': { project: 'victim' }, 'thief-key': { project: 'thief' } },
  }));
  await sendAs('victim-key', 'PUT', `/v1/files/${victim}/secret.txt`, canary);
  await sendAs('thief-key', 'PUT', `/v1/files/${thief}/own.txt`, 'own');
  await sendAs('victim-key', 'PUT', getApplicationPath('app', victim), quickApp({ model: 'gpt', instructions: canary }));
});

afterAll(() => fullService[Symbol.asyncDispose]());

function sendAs(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  return fullService.service.sendRequest({ method, path, headers: { 'api-key': key, 'content-type': 'application/json' }, body });
}

/** Traversals from a folder to another folder, in every spelling that some path parser accepts. */
const traversals = [
  ...[
    '../',
    '..%2f',
    '..%2F',
    '%2e%2e/',
    '%2e%2e%2f',
    '%252e%252e%252f',
    '..%252f',
    '..\\',
    '..%5c',
    '%2e%2e%5c',
    '..;/',
    '.%2e/',
  ],
  ...[
    '%c0%ae%c0%ae/',
    '..%c0%af',
    '..%00/',
    '%00/',
    '//',
    '/%2f',
    './../',
    '%2e/%2e%2e/',
    '..//',
    '\u00b7\u00b7/',
    '..%0d%0a/',
    '..?/',
  ],
];
const targets = ['secret.txt', 'app'];

describe('path traversal out of a bucket', () => {
  const bases = [
    `/v1/files/${thief}/`,
    `/v1/metadata/files/${thief}/`,
    `/v1/applications/${thief}/`,
    '/openai/deployments/applications/',
  ];

  it.each(bases)('fails in every spelling: %s', async (base) => {
    for (const traversal of traversals) {
      for (const target of targets) {
        for (const tail of ['', '/chat/completions', '/limits']) {
          const path = encodeURI(`${base}${traversal}${victim}/${target}${tail}`).replaceAll('%25', '%');
          for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
            const answer = await sendAs('thief-key', method, path, method === 'GET' ? undefined : '{}');
            requireSane(answer);
            expect(answer.text, `${method} ${path}`).not.toContain(canary);
          }
        }
      }
    }
    expect((await sendAs('victim-key', 'GET', `/v1/files/${victim}/secret.txt`)).text).toBe(canary);
    expect((await sendAs('victim-key', 'GET', getApplicationPath('app', victim))).text).toContain(canary);
  });
});

describe('unusual ID', () => {
  const unusualIds = [
    ...[
      '__proto__',
      'constructor',
      'prototype',
      'hasOwnProperty',
      'toString',
      'valueOf',
      '..',
      '.',
      '%2e',
      '%00',
      'gpt%00',
      'gpt%0a',
    ],
    ...[
      'gpt%2f',
      'gpt%2f..',
      'gpt%2f.',
      '%2fgpt',
      'gpt/',
      '/gpt',
      'GPT',
      'gpt%20',
      '%67%70%74%2520',
      'g%ff',
      '%',
      '%zz',
      'x'.repeat(5_000),
    ],
    ...[
      'closed%252finner',
      'closed%5cinner',
      'Closed/inner',
      'closed//inner',
      'closed/./inner',
      'closed/x/../inner',
      '*',
      'gpt;x=1',
    ],
  ];

  it.each(unusualIds)('is answered with 404 on every route: %s', async (id) => {
    const requests = [
      sendAs('thief-key', 'POST', `/openai/deployments/${id}/chat/completions`, { messages: hello }),
      sendAs('thief-key', 'GET', `/openai/deployments/${id}`),
      sendAs('thief-key', 'GET', `/v1/models/${id}`),
      sendAs('thief-key', 'GET', `/anthropic/v1/models/${id}`),
      sendAs('thief-key', 'GET', `/v1/consent/${id}`),
      sendAs('thief-key', 'POST', `/v1/consent/${id}`, { consent: { gpt: { consentRequired: false } } }),
      sendAs('thief-key', 'GET', `/v1/deployments/${id}/limits`),
    ];
    for (const answer of await Promise.all(requests)) {
      expect([answer.status, answer.text]).toEqual([404, expect.not.stringContaining(canary)]);
      requireSane(answer);
    }
  });

  it.each(['__proto__', 'constructor', 'toString'])('in a body is treated as an ordinary name: %s', async (id) => {
    const requests = [
      sendAs('thief-key', 'POST', '/v1/chat/completions', { model: id, messages: hello }),
      sendAs('thief-key', 'POST', '/v1/embeddings', { model: id, input: 'x' }),
      sendAs('thief-key', 'POST', '/msgapi/v1/messages', { model: id, max_tokens: 1, messages: hello }),
    ];
    for (const { status } of await Promise.all(requests)) expect(status).toBe(404);
    const addon = await sendAs('thief-key', 'POST', '/v1/chat/completions', {
      model: 'gpt',
      messages: hello,
      addons: [{ name: id }],
    });
    expect([addon.status, addon.error.code]).toEqual([400, 'unknown_addon']);
    const unknown = await fullService.service.sendRequest({ method: 'GET', path: '/v1/models', headers: { 'api-key': id } });
    expect([unknown.status, unknown.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('as a key of an object is rejected as __proto__ and does not change prototypes', async () => {
    const messages = '"messages":[{"role":"user","content":"Hi"}]';
    for (const body of [`{"__proto__":{"stream":true},${messages}}`, `{${messages},"logit_bias":{"__proto__":{"a":1}}}`]) {
      const { status, error } = await sendAs('thief-key', 'POST', '/openai/deployments/gpt/chat/completions', body);
      expect([body, status, error.code]).toEqual([body, 400, 'invalid_json']);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
