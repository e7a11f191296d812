// Compiled with `description.ts`, which openapi-typescript generates from the served description. A type error fails the compilation.
import createClient from 'openapi-fetch';
import type { paths } from './description.ts';

const { PARLEY_URL: baseUrl = '', PARLEY_KEY: key = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { 'Api-Key': key } });

function assertEqual(actual: unknown, expected: unknown, label: string): void {
  if (actual !== expected) throw new Error(`${label} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}

async function completeChat(): Promise<void> {
  const { data, error } = await client.POST('/v1/chat/completions', {
    body: { model: 'gpt', messages: [{ role: 'user', content: 'Say hello.' }] },
  });
  assertEqual(error, undefined, 'the error');
  assertEqual(data?.choices[0]?.message?.content, 'Hello! Grüße, 你好 😀, from the mock.', 'the reply');
  assertEqual(data?.usage?.completion_tokens, 13, 'the usage');
}

async function sendMessage(): Promise<void> {
  const { data, error } = await client.POST('/anthropic/v1/messages', {
    body: { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Say hello.' }] },
  });
  assertEqual(error, undefined, 'the error');
  assertEqual(data?.content?.[0]?.type, 'text', 'the first block');
}

async function listDeployments(): Promise<void> {
  const { data } = await client.GET('/openai/deployments');
  assertEqual(
    data?.data.some(({ id, object }) => id === 'sdk' && object === 'deployment'),
    true,
    'the application among the deployments',
  );
  const one = await client.GET('/openai/models/{id}', { params: { path: { id: 'gpt' } } });
  assertEqual(one.data?.capabilities?.chat_completion, true, 'what the model can do');
}

async function storeFile(): Promise<void> {
  const { data: mine } = await client.GET('/v1/bucket');
  const path = { bucket: mine?.bucket ?? '', path: 'notes of fetch.txt' };
  const put = await client.PUT('/v1/files/{bucket}/{path}', {
    params: { path },
    headers: { 'Content-Type': 'text/plain' },
    body: 'Grüße',
    bodySerializer: (text) => text,
  });
  assertEqual(put.data?.contentLength, 7, 'the length of the file');
  const got = await client.GET('/v1/files/{bucket}/{path}', { params: { path }, parseAs: 'text' });
  assertEqual(got.data, 'Grüße', 'the file');
  assertEqual((await client.DELETE('/v1/files/{bucket}/{path}', { params: { path } })).error, undefined, 'the error');
}

async function rejectUnknownModel(): Promise<void> {
  const { data, error, response } = await client.POST('/v1/chat/completions', { body: { model: 'nobody', messages: [] } });
  assertEqual(data, undefined, 'the reply');
  assertEqual(response.status, 404, 'the status');
  assertEqual(error?.error.code, 'model_not_found', 'the code');
}

for (const each of [completeChat, sendMessage, listDeployments, storeFile, rejectUnknownModel]) await each();
