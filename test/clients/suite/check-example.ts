import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseText } from '#configuration/parse-text.ts';
import { findFreePort } from '#test/listening.ts';
import { openStream } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { startApplication } from './sdk-application.ts';
import type { Stage } from './stage.ts';

const folder = join(import.meta.dirname, '../../../examples/sdk-application');
/** The only key in the configuration of the example. */
const headers = withKey('local-key');
const tourer = 'The Tourer weighs 14 kg.';
const stages = [
  { name: 'Reading tourer.txt', status: 'completed', content: '24 characters', index: 0 },
  { name: 'Reading stored.txt', status: 'completed', content: '24 characters', index: 1 },
];

/** Runs `examples/sdk-application` with its configuration. Returns one line for each failure. */
export function checkExample({ runners, turns }: Stage): Promise<string[]> {
  return turns.take('examples/sdk-application', () => runExample(runners['openai-two'].toSnippetCommand));
}

async function runExample(toCommand: (file: string) => readonly string[]): Promise<string[]> {
  const port = await findFreePort();
  const text = (await readFile(join(folder, 'parley.jsonc'), 'utf8')).replace(':5000/', `:${port}/`);
  const parsed = await parseText('parley.jsonc', text);
  if (!('value' in parsed)) return ['examples/sdk-application/parley.jsonc cannot be read'];
  await using service = await startProcess({ configuration: parsed.value as object });
  await using _application = await startApplication({ program: join(folder, 'app.py'), toCommand, port, url: service.url });
  const errors = [...(await checkDigest(service)), ...(await checkErrors(service))];
  return errors.map((error) => `examples/sdk-application: ${error}`);
}

/** Requests a streamed digest of two texts, one of them a stored file after another file. */
async function checkDigest(service: TestProcess): Promise<string[]> {
  const { json } = await service.sendRequest({ method: 'GET', path: '/v1/bucket', headers });
  const { bucket } = json as { readonly bucket: string };
  const plain = { ...headers, 'content-type': 'text/plain' };
  await service.sendRequest({ method: 'PUT', path: `/v1/files/${bucket}/stored.txt`, headers: plain, body: tourer });
  const url = `files/${bucket}/appdata/digest/digest-2.md`;
  const attachments = [
    { type: 'text/plain', title: 'tourer.txt', data: tourer },
    { type: 'text/plain', title: 'stored.txt', url: `files/${bucket}/stored.txt` },
  ];
  const messages = [
    { role: 'user', content: 'Begin.' },
    { role: 'assistant', content: 'Done.', custom_content: { state: { digests: 1 } } },
    { role: 'user', content: '', custom_content: { attachments } },
  ];
  const answer = await service.sendRequest({ path: getChatPath('digest'), headers, body: { messages } });
  const { message } = answer.completion.choices[0] ?? {};
  const stream = await openStream(service.url, { path: getChatPath('digest'), headers, body: { messages, stream: true } });
  const streamed = await stream.readRest();
  const stored = await service.sendRequest({ method: 'GET', path: `/v1/${url}`, headers });
  const models = answer.completion.statistics?.usage_per_model.map(({ model }) => model);
  return findDifferences({
    // The demo quotes its prompt without the final period.
    'the texts in the reply': [message?.content?.split(tourer.slice(0, -1)).length, 3],
    'the streamed reply': [streamed.content(), message?.content],
    'the end of the stream': [
      [streamed.isDone, streamed.error],
      [true, undefined],
    ],
    'the stages': [message?.custom_content?.stages, stages],
    'the attachment': [message?.custom_content?.attachments, [{ type: 'text/markdown', title: 'digest-2.md', url, index: 0 }]],
    'the state': [message?.custom_content?.state, { digests: 2 }],
    'the stored file': [stored.text, message?.content],
    'the usage': [streamed.usages.at(-1), answer.completion.usage],
    'whose usage it is': [models, ['demo']],
  });
}

/** Checks the errors of the application, before a stream and inside it. */
async function checkErrors(service: TestProcess): Promise<string[]> {
  const sendChat = (message: object) =>
    openStream(service.url, {
      path: getChatPath('digest'),
      headers,
      body: { stream: true, messages: [{ role: 'user', ...message }] },
    });
  const empty = await sendChat({ content: '' });
  const missing = { type: 'text/plain', title: 'x.txt', url: 'files/nobody/x.txt' };
  const unread = await (await sendChat({ content: 'Read.', custom_content: { attachments: [missing] } })).readRest();
  const { content } = unread;
  return findDifferences({
    'the status of an empty message': [empty.status, 400],
    'the error of an attachment': [
      unread.error,
      {
        type: 'runtime_error',
        message: 'The attachment files/nobody/x.txt cannot be read.',
        param: null,
        code: 'attachment_not_read',
        display_message: 'One of the attachments cannot be read.',
      },
    ],
    'the text before it': [content(), ''],
  });
}

function findDifferences(pairs: Readonly<Record<string, readonly [seen: unknown, expected: unknown]>>): string[] {
  return Object.entries(pairs)
    .filter(([, [seen, expected]]) => !isDeepStrictEqual(seen, expected))
    .map(([what, [seen, expected]]) => `${what} is ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`);
}
