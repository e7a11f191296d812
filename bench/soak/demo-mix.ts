import { chat, toMessages, unlike } from './calls.ts';
import type { Kind } from './mix.ts';
import type { NodeClient } from './node-client.ts';

const applicationTypeSchemaId = 'https://soak.example/custom_application_schemas/quickapps';
const questions = [
  'How long may I keep a borrowed book?',
  'What are the opening hours on Wednesday?',
  'Is the book "The Hobbit" on the shelf?',
  'How much is 3D printing?',
];
const documentKilobytes = [20, 100, 300];
const documentsKept = 20;

/** A document of its own, saved under an application that reads it; then a question to that. */
async function askOwnDocument(client: NodeClient, nth: number, headers: Record<string, string>): Promise<readonly number[]> {
  const { bucket } = (await client.ask({ path: '/v1/bucket', headers })).json() as { bucket: string };
  const kilobytes = documentKilobytes[nth % documentKilobytes.length] ?? 1;
  const lines = Array.from(
    { length: kilobytes * 10 },
    (_, line) => `Paragraph ${line} of document ${nth} tells of the ${line * 7}th item and its price.`,
  );
  const path = `${bucket}/document-${nth % documentsKept}.md`;
  const saved = await client.ask({
    method: 'PUT',
    path: `/v1/files/${path}`,
    headers: { ...headers, 'content-type': 'text/markdown' },
    body: lines.join('\n\n'),
  });
  const applicationProperties = {
    temperature: 0,
    instructions: 'Look it up.',
    model: 'demo',
    document_relative_url: [`files/${path}`],
  };
  const application = `applications/${bucket}/reader-${nth % documentsKept}`;
  const body = { applicationTypeSchemaId, applicationProperties };
  const made = await client.ask({ method: 'PUT', path: `/v1/${application}`, headers, body });
  const asked = await client.ask({
    path: chat(encodeURIComponent(application)),
    headers,
    body: { messages: [{ role: 'user', content: `What is the price of the ${nth}th item?` }] },
  });
  return [...unlike([200], saved.status), ...unlike([200, 201], made.status), ...unlike([200], asked.status)];
}

/** The load of a node that serves its embedded default: documents are read and asked about, texts embedded by the model that is built in. */
export function toDemoMix(key: string): readonly Kind[] {
  const headers = { 'api-key': key };
  const asks =
    (toBody: (nth: number) => object, path: string): Kind['run'] =>
    async (client, nth) =>
      unlike([200], (await client.ask({ path, headers, body: toBody(nth) })).status);
  const question = (nth: number): object => ({
    stream: nth % 2 === 0,
    messages: [{ role: 'user', content: questions[nth % questions.length] }],
  });
  return [
    { name: 'question to the sample', weight: 8, run: asks(question, chat('sample')) },
    { name: 'chat with the demo', weight: 6, run: asks((nth) => toMessages(nth, 20_000), chat('demo')) },
    {
      name: 'embeddings by the built-in model',
      weight: 5,
      run: asks((nth) => ({ model: 'demo-embeddings', input: [`text ${nth}`] }), '/v1/embeddings'),
    },
    { name: 'document of its own', weight: 1, run: (client, nth) => askOwnDocument(client, nth, headers) },
  ];
}
