import { hash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Secret } from '#base/secrets/secret.ts';
import type { Clock } from '#base/time/clock.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import { sampleBucket as bucket } from '#domain/files/bucket.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import { toReference } from '#domain/files/resource-location.ts';
import type { Log } from '#telemetry/log.ts';
import { days, type SampleServer, startSampleServer } from './sample-server.ts';

/** Documents of the sample app in the folder `samples`. */
const sampleDocuments: readonly SampleDocument[] = [
  { name: 'handbook.md', contentType: 'text/markdown' },
  { name: 'prices.csv', contentType: 'text/csv' },
  { name: 'questions.html', contentType: 'text/html' },
];

const folder = new URL('../../../samples/', import.meta.url);

/** Address of the sample tools, and the secret that they require. */
export type SampleAddress = Pick<SampleServer, 'origin' | 'secret'>;

const applicationTypeSchemaId = 'https://parley.example/custom_application_schemas/quickapps';

/**
 * Returns three entries of `applications`. The first has documents, a web API, and an MCP server. The second reads the library
 * account of a member. The third calls the second one, which requires the user's consent.
 */
export function createSampleApplications(address: SampleAddress): Readonly<Record<string, object>> {
  return {
    sample: {
      displayName: 'Sample: Hill Street Library',
      description: 'Answers questions about an invented library: from its documents, its web API and its MCP server.',
      ...createQuickApp({
        instructions: 'You help members of Hill Street Library. Look things up with your tools, and cite the documents.',
        starters: [
          'How long may I keep a borrowed book?',
          'What are the opening hours on Wednesday?',
          'Is the book "The Hobbit" on the shelf?',
          'How much is 3D printing?',
        ],
        document_relative_url: sampleDocuments.map(({ name }) => toReference({ bucket, path: name })),
        web_api_toolset: [createOpeningHoursToolset(address)],
        mcp_toolset: [createMcpToolset(address, 'book_status')],
      }),
    },
    'sample-account': {
      displayName: 'Sample: library account',
      description: 'Lists the books that the member has borrowed, with their return dates.',
      features: { consentRequired: true },
      ...createQuickApp({
        instructions: 'You tell members of Hill Street Library about their loans.',
        starters: ['Which books have I borrowed?'],
        mcp_toolset: [createMcpToolset(address, 'member_loans')],
      }),
    },
    'sample-with-consent': {
      displayName: 'Sample: librarian with your account',
      description: 'Reads the library account of its user after the user consents.',
      ...createQuickApp({
        instructions: 'You remind members of Hill Street Library of their loans.',
        starters: ['Which books must I return soon?'],
        applications_as_tools: ['sample-account'],
      }),
    },
  };
}

function createQuickApp(properties: object): object {
  return { applicationTypeSchemaId, applicationProperties: { model: 'demo', temperature: 0, ...properties } };
}

function createOpeningHoursToolset({ origin, secret }: SampleAddress): object {
  const day = { type: 'string', enum: days, description: 'Day of the week', parameter_info: { type: 'query', key: 'day' } };
  return {
    type: 'rest-api',
    name: 'Library hours',
    authorization: { type: 'bearer', token: secret.reveal() },
    tools: [
      {
        rest_api_method_info: { method_url: `${origin}/opening-hours`, method_type: 'get' },
        open_ai_tool: {
          type: 'function',
          function: {
            name: 'opening_hours',
            description: 'Returns the opening hours of the library on a day of the week',
            parameters: { type: 'object', properties: { day }, required: ['day'] },
          },
        },
      },
    ],
  };
}

function createMcpToolset({ origin, secret }: SampleAddress, tool: string): object {
  return {
    type: 'mcp',
    name: 'Library catalogue',
    mcp_server_info: {
      url: `${origin}/mcp`,
      protocol: 'streamable_http',
      authorization: { type: 'bearer', token: secret.reveal() },
    },
    allowed_tools: [tool],
  };
}

interface SampleDocument {
  readonly name: string;
  readonly contentType: string;
}

/** Services that the sample app needs in addition to its configuration entry. */
export interface Sample {
  /** Undefined if the tools cannot be served. The configuration then has no sample app. */
  readonly server: SampleServer | undefined;
  /** Logs why the server is missing, or stores the documents. Never rejects, so that the node can start without the sample. */
  prepare(deps: SampleDeps): Promise<void>;
}

interface SampleDeps {
  readonly files: { readonly index: FileIndex; readonly blobs: BlobStore };
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts the server of the sample tools, which require the secret. Never rejects. */
export async function startSample(secret: string, host?: string): Promise<Sample> {
  try {
    return { server: await startSampleServer(new Secret(secret), host), prepare: storeDocuments };
  } catch (error) {
    const logFailure = async ({ log }: SampleDeps): Promise<void> =>
      log.error('the sample app is left out: its tools cannot be served', error);
    return { server: undefined, prepare: logFailure };
  }
}

/** Stores the sample documents that are missing or changed. Logs errors. */
export async function storeDocuments({ files, clock, log }: SampleDeps): Promise<void> {
  try {
    for (const document of sampleDocuments) await storeDocument(document, files, clock);
  } catch (error) {
    log.error('cannot store the documents of the sample app', error);
  }
}

async function storeDocument(
  { name: path, contentType }: SampleDocument,
  { index, blobs }: SampleDeps['files'],
  clock: Clock,
): Promise<void> {
  const bytes = await readFile(new URL(path, folder));
  const etag = hash('sha256', bytes, 'base64url');
  if ((await index.find(bucket, path))?.etag === etag) return;
  const blob = randomUUID();
  await blobs.write(blob, [bytes]);
  const nowMs = clock.epochMs();
  const properties = { contentType, contentLength: bytes.length, etag, blob, createdAtMs: nowMs, updatedAtMs: nowMs };
  const put = await index.put({ bucket, path, ...properties }, undefined, Number.MAX_SAFE_INTEGER);
  if (put.outcome === 'stored' && put.replaced !== undefined) await blobs.delete(put.replaced.blob);
}
