// Compiled with `description.ts`, which openapi-typescript generates from the served description. Type errors fail the compiler.
import createClient from 'openapi-fetch';
import type { paths } from './description.ts';

const { PARLEY_URL: baseUrl = '', PARLEY_KEY: key = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { 'Api-Key': key } });

function same(seen: unknown, expected: unknown, what: string): void {
  if (seen !== expected) throw new Error(`${what} is ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`);
}

async function chatWhole(): Promise<void> {
  const { data, error } = await client.POST('/v1/chat/completions', {
    body: { model: 'gpt', messages: [{ role: 'user', content: 'Say hello.' }] },
  });
  same(error, undefined, 'the error');
  same(data?.choices[0]?.message?.content, 'Hello! Grüße, 你好 😀, from the mock.', 'the reply');
  same(data?.usage?.completion_tokens, 13, 'the usage');
}

async function message(): Promise<void> {
  const { data, error } = await client.POST('/anthropic/v1/messages', {
    body: { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Say hello.' }] },
  });
  same(error, undefined, 'the error');
  same(data?.content?.[0]?.type, 'text', 'the first block');
}

async function listing(): Promise<void> {
  const { data } = await client.GET('/openai/deployments');
  same(
    data?.data.some(({ id, object }) => id === 'sdk' && object === 'deployment'),
    true,
    'the application among the deployments',
  );
  const one = await client.GET('/openai/models/{id}', { params: { path: { id: 'gpt' } } });
  same(one.data?.capabilities?.chat_completion, true, 'what the model can do');
}

async function file(): Promise<void> {
  const { data: mine } = await client.GET('/v1/bucket');
  const path = { bucket: mine?.bucket ?? '', path: 'notes of fetch.txt' };
  const put = await client.PUT('/v1/files/{bucket}/{path}', {
    params: { path },
    headers: { 'Content-Type': 'text/plain' },
    body: 'Grüße',
    bodySerializer: (text) => text,
  });
  same(put.data?.contentLength, 7, 'the length of the file');
  const got = await client.GET('/v1/files/{bucket}/{path}', { params: { path }, parseAs: 'text' });
  same(got.data, 'Grüße', 'the file');
  same((await client.DELETE('/v1/files/{bucket}/{path}', { params: { path } })).error, undefined, 'the error');
}

async function refusal(): Promise<void> {
  const { data, error, response } = await client.POST('/v1/chat/completions', { body: { model: 'nobody', messages: [] } });
  same(data, undefined, 'the reply');
  same(response.status, 404, 'the status');
  same(error?.error.code, 'model_not_found', 'the code');
}

for (const each of [chatWhole, message, listing, file, refusal]) await each();
