import { callerKey, getChatPath } from '#test/start-service.ts';
import type { Scenario } from '../scenario.ts';
import { readOutcome } from '../support/call.ts';
import { requireSettled, startWatched } from '../support/watched-node.ts';
import { createUpstream, dialects } from '../upstreams/good-replies.ts';
import { startHostileUpstream } from '../upstreams/hostile-upstream.ts';
import { runInputs } from './run-inputs.ts';
import { type UpstreamInput, upstreamInputAt } from './upstream-replies.ts';
import { Wire } from './wire.ts';

const maxMs = 15_000;
const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000 };

/** Generated replies in every dialect, streamed and complete, to both surfaces. */
export const fuzzUpstreams: Scenario = {
  name: 'fuzz-upstreams',
  title: 'Replies from a grammar in all dialects',
  weight: 4,
  async run(ground) {
    const seed = ground.random.below(2 ** 20);
    await using upstream = await startHostileUpstream(({ path, body }) => {
      const index = Number(/#(\d+)#/.exec(body)?.[1] ?? 0);
      return upstreamInputAt(seed, index).steps(/"stream":\s*true/.test(body) || /stream/i.test(path.split('?')[0] ?? ''));
    });
    const models = Object.fromEntries(
      dialects.map((dialect) => {
        const { model, upstream: fields } = createUpstream(dialect, upstream.url);
        return [dialect, { ...model, maxRetryAttempts: 1, upstreams: [{ ...fields, timeouts }] }];
      }),
    );
    await using node = await startWatched({ configuration: { models } });
    const wire = new Wire(node.url);
    const send = async (index: number): Promise<string> => {
      const input = upstreamInputAt(seed, index);
      const { status, headers, body } = await wire.send(toRequest(input, index), { isHead: false, maxMs });
      const isStream = /content-type: *text\/event-stream/i.test(headers);
      const text = Buffer.from(body, 'latin1').toString('utf8');
      const outcome = readOutcome({ status, text, error: undefined, ms: 0, isStream }, input.isMessages);
      return outcome.kind === 'answer' ? 'answered' : `refused ${outcome.status}`;
    };
    for (let index = 0; index < 300; index += 1) await send(10_000_000 + index).catch(() => undefined);
    const before = await node.collectAndRead();
    const titleAt = (index: number): string => {
      const { dialect, isStream, isMessages } = upstreamInputAt(seed, index);
      return `${dialect}, ${isStream ? 'streamed' : 'whole'}, ${isMessages ? 'messages' : 'chat'}`;
    };
    const sendNamed = (index: number): Promise<string> =>
      send(index).catch((error: Error) => {
        throw new Error(`${titleAt(index)}: ${error.message}`);
      });
    await runInputs(ground, node, { send: sendNamed, titleAt });
    wire.close();
    await requireSettled(node, before, ground.tally);
  },
};

function toRequest({ dialect, isStream, isMessages }: UpstreamInput, index: number): Buffer {
  const messages = [{ role: 'user', content: `Hi #${index}#` }];
  const body = JSON.stringify({ ...(isMessages && { model: dialect, max_tokens: 50 }), messages, stream: isStream });
  const path = isMessages ? '/msgapi/v1/messages' : getChatPath(dialect);
  const fields = [
    'host: x',
    `api-key: ${callerKey}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
}
