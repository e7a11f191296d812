import { ask } from '#test/ask.ts';
import { delta, finish, plainCompletion } from '#test/chunks.ts';
import type { OpenApiDocument } from '#test/documented.ts';
import { callerKey } from '#test/start-service.ts';
import { requireSane, toConfiguration } from '../fuzz/fuzz-routes.ts';
import { kindOf, runInputs } from '../fuzz/run-inputs.ts';
import { Wire } from '../fuzz/wire.ts';
import { Random } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { requireSettled, startWatched } from '../support/watched-node.ts';
import { framed } from '../upstreams/fault.ts';
import { goodReply, vectorsReply } from '../upstreams/good-replies.ts';
import { startHostileUpstream } from '../upstreams/hostile-upstream.ts';
import { TextInputs } from './text-inputs.ts';
import { hostileTexts } from './texts.ts';

const maxAnswerMs = 15_000;
const shortInputs = 400;
const replyLengths = [40, 3_000, 30_000];

/** Hostile text in each field of each route, and in the replies of models and applications. */
export const hostileText: Scenario = {
  name: 'hostile-text',
  title: 'Hostile text in each field of each route, and in replies',
  weight: 4,
  async run(ground) {
    await using upstream = await startHostileUpstream(({ path, body }) => framed(toReply(path, body)));
    await using node = await startWatched({ configuration: toConfiguration(upstream.url) });
    const described = await ask(node.url, { method: 'GET', path: '/openapi.json' });
    const inputs = new TextInputs(described.json as OpenApiDocument, { seed: ground.random.below(2 ** 20), key: callerKey });
    const wire = new Wire(node.url);
    const send = async (nth: number) => {
      const { title, isHead, bytes } = inputs.at(nth);
      const answer = await wire.send(bytes, { isHead, longestMs: maxAnswerMs }).catch((error: Error) => {
        throw new Error(`${title}: ${error.message}`);
      });
      // An upstream that calls a tool with hostile arguments is at fault itself.
      if (answer.status === 500 && /"upstream_failed"|The answer calls a tool|The upstream/.test(answer.body))
        return 'upstream errors';
      requireSane(title, answer);
      return kindOf(answer.status);
    };
    // The first calls load modules and compile schemas, which is not what is measured.
    for (let nth = 0; nth < 300; nth += 1) await send(10_000_000 + nth).catch(() => undefined);
    const before = await node.read();
    const count = ground.inputs ?? (ground.isShort ? shortInputs : undefined);
    await runInputs({ ...ground, inputs: count }, node, send);
    wire.close();
    await requireSettled(node, before, ground.tally);
  },
};

/** Replies to the same request are the same: the text of the request picks the kind of reply. */
function toReply(path: string, body: string) {
  const json = (value: unknown) => ({
    contentType: 'application/json',
    pieces: [Buffer.from(JSON.stringify(value))],
    isStream: false,
  });
  if (path.endsWith('/embeddings')) return json(vectorsReply);
  const isStream = /"stream":\s*true/.test(body);
  const random = new Random(body.length * 31 + (body.at(-20)?.charCodeAt(0) ?? 0));
  if (path.startsWith('/anthropic') || random.chance(0.3))
    return goodReply(path.startsWith('/anthropic') ? 'anthropic' : 'openai', isStream);
  const text = random.pick(hostileTexts).build(random.pick(replyLengths)).toWellFormed();
  const attachments = [{ index: 0, title: text.slice(0, 300), url: text, reference_url: text }];
  const call = { index: 0, id: text.slice(0, 300), type: 'function', function: { name: text.slice(0, 60), arguments: text } };
  const fields = random.pick<object>([
    { content: text },
    { content: '', custom_content: { attachments, stages: [{ index: 0, name: text, content: text, status: null }] } },
    { content: null, tool_calls: [call] },
    { content: '', reasoning_content: text },
  ]);
  if (!isStream) {
    const completion = plainCompletion('') as unknown as { choices: { message: object }[] };
    return json({
      ...completion,
      choices: completion.choices.map((choice) => ({ ...choice, message: { role: 'assistant', ...fields } })),
    });
  }
  const events = [delta(fields as never), finish()].map((chunk) => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`));
  return { contentType: 'text/event-stream', pieces: [...events, Buffer.from('data: [DONE]\n\n')], isStream: true };
}
