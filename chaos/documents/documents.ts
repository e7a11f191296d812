import { delta, finish } from '#test/chunks.ts';
import { toEvent } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { type Ground, hasTime, type Scenario } from '../scenario.ts';
import { call, readOutcome } from '../support/call.ts';
import { quickAppType } from '../support/calm-upstream.ts';
import { requireSettled, requireToLive, startWatched, type WatchedNode } from '../support/watched-node.ts';
import { framed } from '../upstreams/fault.ts';
import { goodReply } from '../upstreams/good-replies.ts';
import { startHostileUpstream } from '../upstreams/hostile-upstream.ts';
import { type HostileDocument, hostileDocuments } from './hostile-documents.ts';

const maxOtherMs = 5_000;
const toolCall = {
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'query_document', arguments: '{"query":"mill"}' },
} as const;

/** Quick apps that read harmful documents while other clients call a model. */
export const documents: Scenario = {
  name: 'documents',
  title: 'Hostile documents that quick apps read',
  weight: 2,
  isLongOnly: true,
  async run(ground) {
    await using upstream = await startHostileUpstream(({ path, body }) => {
      const good = goodReply('openai', /"stream":\s*true/.test(body));
      const isFirst = path.startsWith('/asks') && !body.includes('"role":"tool"');
      if (!isFirst) return framed(good);
      const events = [delta({ role: 'assistant', content: null, tool_calls: [toolCall] }), finish('tool_calls')].map(toEvent);
      return framed({ ...goodReply('openai', true), pieces: [...events, 'data: [DONE]\n\n'].map((event) => Buffer.from(event)) });
    });
    const model = (path: string) => ({ upstreams: [{ endpoint: `${upstream.url}${path}/v1` }], maxRetryAttempts: 1 });
    const configuration = { models: { free: model(''), asking: model('/asks') } };
    await using node = await startWatched({ configuration });
    let hasEnded = false;
    requireToLive(node, ground.tally, () => hasEnded);
    await call(node.url, { deployment: 'free', isStream: false, isMessages: false });
    const before = await node.collectAndRead();
    const { bucket } = (await sendRequest(node.url, { method: 'GET', path: '/v1/bucket', headers: { 'api-key': callerKey } }))
      .json as {
      bucket: string;
    };
    for (const document of hostileDocuments()) {
      if (!document.name.includes(ground.match) || !hasTime(ground)) continue;
      await readOne(ground, { node, bucket, document });
    }
    await requireSettled(node, before, ground.tally);
    hasEnded = true;
  },
};

interface Reading {
  readonly node: WatchedNode;
  readonly bucket: string;
  readonly document: HostileDocument;
}

/** Saves a document and an application that reads it, sends a question, and calls a model during that time. */
async function readOne({ tally, log }: Ground, { node, bucket, document }: Reading): Promise<void> {
  const { name, bytes } = document;
  const put = (path: string, body: unknown): Promise<TestResponse> =>
    sendRequest(node.url, { method: 'PUT', path, headers: withKey(), body });
  const stored = await put(`/v1/files/${bucket}/${name}`, Buffer.from(bytes));
  const properties = {
    temperature: 0,
    instructions: 'Be kind.',
    model: 'asking',
    document_relative_url: [`files/${bucket}/${name}`],
  };
  const saved = await put(`/v1/applications/${bucket}/${name}`, {
    displayName: name,
    applicationTypeSchemaId: quickAppType,
    applicationProperties: properties,
  });
  tally.require(
    stored.status < 300 && saved.status < 300,
    () => `${name}: ${stored.status} ${saved.status} ${saved.text.slice(0, 200)}`,
  );
  const beganMs = performance.now();
  let hasEnded = false;
  const otherCalls = (async () => {
    while (!hasEnded) {
      const { status, ms } = await call(node.url, { deployment: 'free', isStream: false, isMessages: false });
      tally.count('calls of others');
      tally.peak('longest other call ms', Math.round(ms));
      tally.require(
        status === 200 && ms < maxOtherMs,
        () => `${name}: another's call was answered with ${status} after ${Math.round(ms)} ms`,
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const result = await call(node.url, {
    deployment: `applications/${bucket}/${name}`,
    isStream: false,
    isMessages: false,
    maxMs: 120_000,
  });
  hasEnded = true;
  await otherCalls;
  const ms = Math.round(performance.now() - beganMs);
  const { blockedMs, rssBytes } = await node.collectAndRead();
  tally.count('documents');
  tally.peak('longest ms', ms);
  tally.peak('blocked ms', Math.round(blockedMs));
  tally.peak('rss MB', Math.round(rssBytes / 2 ** 20));
  tally.require(blockedMs <= 250, () => `${name}: the event loop was blocked for ${Math.round(blockedMs)} ms`);
  try {
    readOutcome(result, false);
  } catch (error) {
    tally.addFault(`${name}: ${error instanceof Error ? error.message : error}`);
  }
  log(`${name}: ${result.status} after ${ms} ms, ${Math.round(rssBytes / 2 ** 20)} MB`);
}
