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
/** Parts of messages: no header field tells of them, the table does. */
const untoldParts: ReadonlySet<string> = new Set([
  ...['`name` of a user', '`detail` of an image', '`custom_content.state`', 'image in a tool result'],
  ...['returned signatures: `extra_content`', '`cache_control` of a part'],
]);
let prober: Prober;

beforeAll(async () => {
  prober = await startProber();
});

afterAll(() => prober[Symbol.asyncDispose]());

/** The fates of a row, by dialect; those the table claims nothing of are left out. */
async function fatesOf(
  name: string,
  fateOf: (dialect: DialectName) => Promise<string | undefined>,
  features: readonly Feature[] = [...requestFeatures, ...replyFeatures],
) {
  const feature = features.find((each) => each.name === name);
  const fates: Record<string, unknown> = {};
  const claimed: Record<string, unknown> = {};
  for (const dialect of dialectNames) {
    fates[dialect] = (await fateOf(dialect)) ?? 'none';
    claimed[dialect] = feature?.cells[dialect].fate;
  }
  return { fates, claimed };
}

describe('what becomes of a request', () => {
  it('is told of all that is asked here, and of nothing else', () => {
    expect(requestFeatures.map(({ name }) => name)).toEqual([...requestProbes.keys()]);
  });

  it.each([...requestProbes])('is as the table says, and its caller is told: %s', async (name, probe) => {
    const untold: DialectName[] = [];
    const { fates, claimed } = await fatesOf(name, async (dialect) => {
      const { fate, isTold } = await prober.fateOf(dialect, probe);
      // The demo does not say what it passes over.
      if (fate === 'lost' && !isTold && dialect !== 'demo') untold.push(dialect);
      return fate;
    });
    expect(fates).toEqual(claimed);
    expect(untold.length > 0).toBe(untoldParts.has(name));
  });
});

describe('what becomes of a request in the Messages dialect', () => {
  /** What a package of a vendor, or the demo, leaves out by itself: of that only the table tells. */
  const unsupportedBy: ReadonlySet<DialectName> = new Set(['bedrock', 'vertex', 'gemini', 'mistral', 'demo']);

  it('is told of all that is asked here, and of nothing else', () => {
    expect(messagesFeatures.map(({ name }) => name)).toEqual([...messagesProbes.keys()]);
  });

  it.each([...messagesProbes])('is as the table says, and its caller is told: %s', async (name, probe) => {
    const untold: DialectName[] = [];
    const { fates, claimed } = await fatesOf(
      name,
      async (dialect) => {
        const { fate, isTold } = await prober.messagesFateOf(dialect, probe);
        if (fate === 'lost' && !isTold && !unsupportedBy.has(dialect)) untold.push(dialect);
        return fate;
      },
      messagesFeatures,
    );
    expect(fates).toEqual(claimed);
    expect(untold).toEqual([]);
  });
});

describe('what becomes of a request in the Responses dialect', () => {
  const untold: ReadonlySet<string> = new Set([
    ...['`detail` of an image', 'thoughts without `encrypted_content`', '`prompt_cache_key`'],
  ]);

  it('is told of all that is asked here, and of nothing else', () => {
    expect(responsesFeatures.map(({ name }) => name)).toEqual([...responsesProbes.keys()]);
  });

  it.each([...responsesProbes])('is as the table says, and its caller is told: %s', async (name, probe) => {
    const untoldBy: DialectName[] = [];
    const { fates, claimed } = await fatesOf(
      name,
      async (dialect) => {
        const { fate, isTold } = await prober.responsesFateOf(dialect, probe);
        if (fate === 'lost' && !isTold && dialect !== 'demo') untoldBy.push(dialect);
        return fate;
      },
      responsesFeatures,
    );
    expect(fates).toEqual(claimed);
    expect(untoldBy.length > 0).toBe(untold.has(name));
  });
});

describe('what becomes of a reply', () => {
  it('is told of all that is asked here, and of nothing else', () => {
    expect(replyFeatures.map(({ name }) => name)).toEqual([...replyProbes.keys(), embeddings]);
  });

  it.each([...replyProbes])('is as the table says: %s', async (name, { replies, isTold }) => {
    const { fates, claimed } = await fatesOf(name, async (dialect) => {
      const reply = dialect === 'demo' ? silence : replies[dialect];
      if (reply === undefined) return undefined;
      const { choice, usage } = await prober.told(dialect, reply);
      if (isTold(isJsonObject(choice) ? choice : {}, isJsonObject(usage) ? usage : {})) return 'carried';
      return claimedNone(name, dialect) ? undefined : 'lost';
    });
    expect(fates).toEqual(claimed);
  });

  it('is as the table says: embeddings', async () => {
    const { fates, claimed } = await fatesOf(embeddings, async (dialect) => {
      if (dialect === 'application') return undefined;
      const reply = vectorReplies[dialect];
      if (reply !== undefined) prober.upstream.script(reply);
      const body = { model: `${dialect}-vectors`, input: 'Hello' };
      const { status, json } = await prober.service.sendRequest({ path: '/v1/embeddings', headers: withKey(), body });
      if (status === 200) expect(json).toMatchObject({ data: [{ index: 0 }] });
      return status === 200 ? 'carried' : 'refused';
    });
    expect(fates).toEqual(claimed);
  });
});

function claimedNone(name: string, dialect: DialectName): boolean {
  return replyFeatures.find((each) => each.name === name)?.cells[dialect].fate === 'none';
}

describe('the page of upstreams', () => {
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

  it('has an example of every protocol that passes the check', async () => {
    const lines = await checkFiles({ 'example.jsonc': example }, environment);
    expect(lines).toEqual([expect.stringMatching(/^example\.jsonc: no errors/)]);
    const shown: Partial<Record<DialectName, string>> = {
      ...{ application: '"applications"', openai: '/v1"', responses: '"api": "responses"' },
    };
    for (const name of dialectNames) expect(example).toContain(shown[name] ?? `"protocol": "${name}"`);
  });
});
