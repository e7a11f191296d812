import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '#base/json/json.ts';
import { checkFiles } from '#test/check-files.ts';
import { silence } from '#test/scripted-upstream.ts';
import { withKey } from '#test/start-service.ts';
import {
  type DialectName,
  dialectNames,
  type Feature,
  messagesFeatures,
  replyFeatures,
  requestFeatures,
  responsesFeatures,
} from '../../scripts/upstream-features.ts';
import { messagesProbes } from './matrix-messages.ts';
import { replyProbes, vectorReplies } from './matrix-replies.ts';
import { requestProbes } from './matrix-requests.ts';
import { responsesProbes } from './matrix-responses.ts';
import { type Prober, startProber } from './matrix-support.ts';

const embeddings = 'embeddings';
/** Parts of messages whose omission is documented in the table, but not reported in a response header. */
const unreportedParts: ReadonlySet<string> = new Set([
  ...['`name` of a user', '`detail` of an image', '`custom_content.state`', 'image in a tool result'],
  ...['`extra_content` of an earlier reply (signatures)', '`cache_control` of a part'],
]);
let prober: Prober;

beforeAll(async () => {
  prober = await startProber();
});

afterAll(() => prober[Symbol.asyncDispose]());

/**
 * Returns the observed and the documented observedTreatments of a row by dialect. Dialects without a treatment in the table have
 * none.
 */
async function collectTreatments(
  name: string,
  getTreatment: (dialect: DialectName) => Promise<string | undefined>,
  features: readonly Feature[] = [...requestFeatures, ...replyFeatures],
) {
  const feature = features.find((each) => each.name === name);
  const observedTreatments: Record<string, unknown> = {};
  const documentedTreatments: Record<string, unknown> = {};
  for (const dialect of dialectNames) {
    observedTreatments[dialect] = (await getTreatment(dialect)) ?? 'none';
    documentedTreatments[dialect] = feature?.cells[dialect].handling;
  }
  return { observedTreatments, documentedTreatments };
}

describe('feature table for chat requests', () => {
  it('has exactly the rows that are tested here', () => {
    expect(requestFeatures.map(({ name }) => name)).toEqual([...requestProbes.keys()]);
  });

  it.each([...requestProbes])('matches the behavior and the Parley-Ignored header: %s', async (name, probe) => {
    const unreported: DialectName[] = [];
    const { observedTreatments, documentedTreatments } = await collectTreatments(name, async (dialect) => {
      const { treatment, isReported } = await prober.getChatTreatment(dialect, probe);
      // The demo does not report omitted fields.
      if (treatment === 'dropped' && !isReported && dialect !== 'demo') unreported.push(dialect);
      return treatment;
    });
    expect(observedTreatments).toEqual(documentedTreatments);
    expect(unreported.length > 0).toBe(unreportedParts.has(name));
  });
});

describe('feature table for Messages requests', () => {
  /** Dialects whose vendor package or demo omits fields itself. Only the table lists these fields. */
  const unsupportedBy: ReadonlySet<DialectName> = new Set(['bedrock', 'vertex', 'gemini', 'mistral', 'demo']);

  it('has exactly the rows that are tested here', () => {
    expect(messagesFeatures.map(({ name }) => name)).toEqual([...messagesProbes.keys()]);
  });

  it.each([...messagesProbes])('matches the behavior and the Parley-Ignored header: %s', async (name, probe) => {
    const unreported: DialectName[] = [];
    const { observedTreatments, documentedTreatments } = await collectTreatments(
      name,
      async (dialect) => {
        const { treatment, isReported } = await prober.getMessagesTreatment(dialect, probe);
        if (treatment === 'dropped' && !isReported && !unsupportedBy.has(dialect)) unreported.push(dialect);
        return treatment;
      },
      messagesFeatures,
    );
    expect(observedTreatments).toEqual(documentedTreatments);
    expect(unreported).toEqual([]);
  });
});

describe('feature table for Responses requests', () => {
  const unreported: ReadonlySet<string> = new Set([
    ...['`detail` of an image', 'thoughts without `encrypted_content`', '`prompt_cache_key`'],
  ]);

  it('has exactly the rows that are tested here', () => {
    expect(responsesFeatures.map(({ name }) => name)).toEqual([...responsesProbes.keys()]);
  });

  it.each([...responsesProbes])('matches the behavior and the Parley-Ignored header: %s', async (name, probe) => {
    const unreportedBy: DialectName[] = [];
    const { observedTreatments, documentedTreatments } = await collectTreatments(
      name,
      async (dialect) => {
        const { treatment, isReported } = await prober.getResponsesTreatment(dialect, probe);
        if (treatment === 'dropped' && !isReported && dialect !== 'demo') unreportedBy.push(dialect);
        return treatment;
      },
      responsesFeatures,
    );
    expect(observedTreatments).toEqual(documentedTreatments);
    expect(unreportedBy.length > 0).toBe(unreported.has(name));
  });
});

describe('feature table for replies', () => {
  it('has exactly the rows that are tested here', () => {
    expect(replyFeatures.map(({ name }) => name)).toEqual([...replyProbes.keys(), embeddings]);
  });

  it.each([...replyProbes])('matches the behavior: %s', async (name, { replies, isReported }) => {
    const { observedTreatments, documentedTreatments } = await collectTreatments(name, async (dialect) => {
      const reply = dialect === 'demo' ? silence : replies[dialect];
      if (reply === undefined) return undefined;
      const { choice, usage } = await prober.getResult(dialect, reply);
      if (isReported(isJsonObject(choice) ? choice : {}, isJsonObject(usage) ? usage : {})) return 'supported';
      return isDocumentedAsNone(name, dialect) ? undefined : 'dropped';
    });
    expect(observedTreatments).toEqual(documentedTreatments);
  });

  it('matches the behavior: embeddings', async () => {
    const { observedTreatments, documentedTreatments } = await collectTreatments(embeddings, async (dialect) => {
      if (dialect === 'application') return undefined;
      const reply = vectorReplies[dialect];
      if (reply !== undefined) prober.upstream.script(reply);
      const body = { model: `${dialect}-vectors`, input: 'Hello' };
      const { status, json } = await prober.service.sendRequest({ path: '/v1/embeddings', headers: withKey(), body });
      if (status === 200) expect(json).toMatchObject({ data: [{ index: 0 }] });
      return status === 200 ? 'supported' : 'rejected';
    });
    expect(observedTreatments).toEqual(documentedTreatments);
  });
});

function isDocumentedAsNone(name: string, dialect: DialectName): boolean {
  return replyFeatures.find((each) => each.name === name)?.cells[dialect].handling === 'none';
}

describe('docs/upstreams.md', () => {
  const page = readFileSync(new URL('../../docs/upstreams.md', import.meta.url), 'utf8');
  const account = { client_email: 'a@b', private_key: '-----BEGIN PRIVATE KEY-----', project_id: 'p' };
  const secrets = [
    'ONE_KEY',
    'TWO_KEY',
    'OPENAI_API_KEY',
    'AZURE_KEY',
    'ANTHROPIC_API_KEY',
    'GEMINI_API_KEY',
    'VERTEX_KEY',
    'BEDROCK_KEY',
    'MISTRAL_API_KEY',
  ];
  const environment = {
    ...Object.fromEntries(secrets.map((name) => [name, 'secret'])),
    GOOGLE_ACCOUNT: JSON.stringify(account),
    PARLEY_KEY: 'a key of more than 16 characters',
  };
  const example = /```jsonc\n([\s\S]*?)```/.exec(page)?.[1] ?? '';

  it('has an example of every protocol that passes the configuration check', async () => {
    const lines = await checkFiles({ 'example.jsonc': example }, environment);
    expect(lines).toEqual([expect.stringMatching(/^example\.jsonc: no errors/)]);
    const markers: Partial<Record<DialectName, string>> = {
      ...{ application: '"applications"', openai: '/v1"', responses: '"api": "responses"' },
    };
    for (const name of dialectNames) expect(example).toContain(markers[name] ?? `"protocol": "${name}"`);
  });
});
