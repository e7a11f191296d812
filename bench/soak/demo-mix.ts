import { findUnexpected, getChatPath, toMessages } from './calls.ts';
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
const maxDocuments = 20;

/** Saves a new document and an application that reads it, and sends a question to the application. */
async function queryOwnDocument(client: NodeClient, index: number, headers: Record<string, string>): Promise<readonly number[]> {
  const { bucket } = (await client.send({ path: '/v1/bucket', headers })).json() as { bucket: string };
  const kilobytes = documentKilobytes[index % documentKilobytes.length] ?? 1;
  const lines = Array.from(
    { length: kilobytes * 10 },
    (_, line) => `Paragraph ${line} of document ${index} describes the ${line * 7}th item and its price.`,
  );
  const path = `${bucket}/document-${index % maxDocuments}.md`;
  const saved = await client.send({
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
  const application = `applications/${bucket}/reader-${index % maxDocuments}`;
  const body = { applicationTypeSchemaId, applicationProperties };
  const created = await client.send({ method: 'PUT', path: `/v1/${application}`, headers, body });
  const answer = await client.send({
    path: getChatPath(encodeURIComponent(application)),
    headers,
    body: { messages: [{ role: 'user', content: `What is the price of the ${index}th item?` }] },
  });
  return [
    ...findUnexpected([200], saved.status),
    ...findUnexpected([200, 201], created.status),
    ...findUnexpected([200], answer.status),
  ];
}

/**
 * Creates the load of a node with its embedded default. It reads and queries documents and embeds texts with the built-in model.
 */
export function toDemoMix(key: string): readonly Kind[] {
  const headers = { 'api-key': key };
  const createRun =
    (toBody: (index: number) => object, path: string): Kind['run'] =>
    async (client, index) =>
      findUnexpected([200], (await client.send({ path, headers, body: toBody(index) })).status);
  const question = (index: number): object => ({
    stream: index % 2 === 0,
    messages: [{ role: 'user', content: questions[index % questions.length] }],
  });
  return [
    { name: 'question to the sample', weight: 8, run: createRun(question, getChatPath('sample')) },
    { name: 'chat with the demo', weight: 6, run: createRun((index) => toMessages(index, 20_000), getChatPath('demo')) },
    {
      name: 'embeddings by the built-in model',
      weight: 5,
      run: createRun((index) => ({ model: 'demo-embeddings', input: [`text ${index}`] }), '/v1/embeddings'),
    },
    { name: 'separate document', weight: 1, run: (client, index) => queryOwnDocument(client, index, headers) },
  ];
}
