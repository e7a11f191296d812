import { sendRequest } from '#test/send-request.ts';
import { withKey } from '#test/start-service.ts';
import { hasTime, type Scenario } from '../scenario.ts';
import { requireSettled, requireToLive, requireUnblocked, startWatched } from '../support/watched-node.ts';
import { framed } from '../upstreams/fault.ts';
import { startHostileUpstream } from '../upstreams/hostile-upstream.ts';
import { largeReplies, largeRequests } from './cases.ts';

/** Bodies of the maximum permitted size that take longest to read, from clients and from upstreams. */
export const largeBodies: Scenario = {
  name: 'large-bodies',
  title: 'Bodies of the maximum size from clients and upstreams',
  weight: 1,
  isLongOnly: true,
  async run(ground) {
    const replies = new Map(largeReplies().map((reply) => [reply.name, reply]));
    await using upstream = await startHostileUpstream(({ path }) => {
      const bytes = replies.get(decodeURIComponent(path.split('/')[1] ?? ''))?.toBytes() ?? Buffer.from(small);
      return framed({ isStream: false, contentType: 'application/json', pieces: [bytes] });
    });
    const model = (name: string) => ({
      upstreams: [{ endpoint: `${upstream.url}/${encodeURIComponent(name)}/v1` }],
      maxRetryAttempts: 1,
    });
    const models = Object.fromEntries([...replies.values()].map(({ name, fields }) => [name, { ...model(name), ...fields }]));
    await using node = await startWatched({
      configuration: { models: { ...models, free: model('free'), demo: { upstreams: [{ protocol: 'demo' }] } } },
    });
    let hasEnded = false;
    requireToLive(node, ground.tally, () => hasEnded);
    const before = await node.collectAndRead();
    const cases = [
      ...largeRequests().map((request) => ({ ...request, what: `sent: ${request.name}` })),
      ...[...replies.values()].flatMap(({ name, requests }) =>
        requests.map(({ path, body }) => ({ path, toBody: () => JSON.stringify(body), what: `came: ${name} at ${path}` })),
      ),
    ];
    for (const { what, path, toBody } of cases) {
      if (!what.includes(ground.match) || !hasTime(ground)) continue;
      const body = toBody();
      await node.collectAndRead();
      const { status } = await sendRequest(node.url, { path, headers: withKey(), body });
      const { blockedMs, rssBytes } = await node.collectAndRead();
      ground.tally.count('bodies');
      ground.tally.peak('blocked ms', Math.round(blockedMs));
      ground.tally.peak('rss MB', Math.round(rssBytes / 2 ** 20));
      ground.tally.require(status > 0, () => `${what}: no answer`);
      requireUnblocked(what, { blockedMs }, ground.tally);
      ground.log(`${what}: ${status}, blocked ${Math.round(blockedMs)} ms`);
    }
    await requireSettled(node, before, ground.tally);
    hasEnded = true;
  },
};

const small =
  '{"id":"a","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}';
