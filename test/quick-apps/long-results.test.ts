import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { buildOperations, calls, getMessage, getStages, getToolMessages, type Rig, says, startRig, user } from './support.ts';

let api: ScriptedUpstream;

const items = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `item number ${id}`, tags: ['a', 'b,c'] }));
const contents: Readonly<Record<string, string>> = {
  '/json': JSON.stringify({ items }),
  '/lines': Array.from({ length: 3_000 }, (_, id) => `line ${id} of the log`).join('\n'),
  '/ten': 'Ten. '.repeat(40_000),
};

beforeAll(async () => {
  api = await startScriptedUpstream(({ received, response }) => {
    response.setHeader('content-type', received.path === '/json' ? 'application/json' : 'text/plain');
    response.end(contents[received.path]);
  });
});

afterAll(() => api.close());

function start(
  replies: readonly Reply[],
  options = { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } },
): Promise<Rig> {
  return startRig({ app: buildOperations(api, 'json', 'lines', 'ten'), replies, options });
}

const findResultId = (text: string | null | undefined): string => /read_result with id "(r_\w+)"/.exec(text ?? '')?.[1] ?? '';
/** Returns a reply that calls `read_result` for the last truncated result. */
const readResult =
  (args: object): Reply =>
  async (exchange) => {
    const { messages } = exchange.received.body as { messages: { role: string; content: string | null }[] };
    const truncated = messages.findLast(({ role, content }) => role === 'tool' && findResultId(content) !== '');
    await calls(['read_result', { id: findResultId(truncated?.content), ...args }])(exchange);
  };

describe('the reply of a web API', () => {
  it('is sent to the model with the retry delay, the links to further pages, and the total count', async () => {
    const replies: readonly Reply[] = [
      ({ response }) => void response.writeHead(429, { 'retry-after': '30', 'content-type': 'text/plain' }).end('Slow down.'),
      ({ response }) => {
        const link = '<https://api.example/items?page=2>; rel="next", <https://api.example/items?page=9>; title="a, b"; rel=last';
        response.writeHead(200, { link, 'x-total-count': '412', 'content-type': 'application/json' }).end(JSON.stringify(items));
      },
    ];
    await using web = await startScriptedUpstream(...replies);
    await using rig = await startRig({
      app: buildOperations(web, 'items'),
      replies: [calls(['items', {}]), calls(['items', {}]), says('Done.')],
    });
    await rig.chat('Read.');
    const [rateLimited, page] = getToolMessages(rig);
    expect(rateLimited).toBe('HTTP 429: Slow down.\n\n[The server also returned: Retry-After: 30 s.]');
    expect(page).toMatch(
      /, or searches it\.\]\n\n\[The server also returned: next page: https:\/\/api\.example\/items\?page=2; last page: https:\/\/api\.example\/items\?page=9; x-total-count: 412\.\]$/,
    );
    expect(Buffer.byteLength(page ?? '')).toBeLessThanOrEqual(40_000);
  });

  it('is converted to readable text if it is a web page', async () => {
    const html =
      '<html><head><title>Hours</title><script>x()</script></head><body><h1>Open</h1><p>Nine &ndash; five</p></body></html>';
    await using web = await startScriptedUpstream(
      ({ response }) => void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html),
    );
    await using rig = await startRig({ app: buildOperations(web, 'page'), replies: [calls(['page', {}]), says('Done.')] });
    await rig.chat('Read.');
    expect(getToolMessages(rig)).toEqual(['# Hours\n\n# Open\n\nNine – five']);
  });
});

describe('a result that is too long', () => {
  it('is truncated at the end of a JSON element or of a line', async () => {
    await using rig = await start([calls(['json', {}], ['lines', {}]), says('Done.')]);
    await rig.chat('Read.');
    const [json = '', lines = ''] = getToolMessages(rig);
    const truncatedJson = (json ?? '').split('\n\n[Truncated')[0] ?? '';
    expect(JSON.parse(`${truncatedJson.slice(0, -1)}]}`)).toEqual({
      items: items.slice(0, truncatedJson.split('"id"').length - 1),
    });
    expect(truncatedJson.length).toBeGreaterThan(39_000);
    expect(contents['/lines']?.startsWith((lines ?? '').split('\n\n[Truncated')[0] ?? 'none')).toBe(true);
    expect((lines ?? '').split('\n\n\n[Truncated')[0]).toMatch(/\nline \d+ of the log$/);
  });

  it('can be read by the model from the offset of the truncation', async () => {
    const offset = 39_000;
    await using rig = await start([calls(['json', {}]), readResult({ offset }), says('Done.')]);
    const response = await rig.chat('Read.');
    const page = getToolMessages(rig).at(-1) ?? '';
    expect(contents['/json']?.slice(offset)).toContain(page.split('\n\n[Characters')[0]);
    expect(page).toMatch(/\n\n\[Characters 39000 to \d+ of \d+, continue with offset \d+\.\]$/);
    expect(getStages(response)[1]).toMatchObject({ name: 'read_result', status: 'completed' });
    expect(rig.offered(0).map(({ function: { name } }) => name)).not.toContain('read_result');
  });

  it('can be searched by the model', async () => {
    await using rig = await start([
      calls(['lines', {}]),
      readResult({ search: 'LINE 2999' }),
      readResult({ search: 'nowhere' }),
      says('Done.'),
    ]);
    await rig.chat('Read.');
    const [, match, noMatch] = getToolMessages(rig);
    expect(match).toMatch(
      /^Offset \d+: …[\s\S]*line 2999 of the log…\n\n\[Found 1 times in \d+ characters, shown in 1 places\.\]$/,
    );
    expect(noMatch).toBe(`[Nothing in the ${contents['/lines']?.length} characters of the result matches "nowhere".]`);
  });

  it('can be read in later runs of the conversation on any node, without another tool call', async () => {
    const options = { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } };
    await using first = await start([calls(['ten', {}]), says('Done.')], options);
    const reply = getMessage(await first.chat('Read.'));
    await using second = await start([readResult({ offset: 100_000 }), says('Read.')], options);
    const before = api.requests.length;
    await second.chat([user('Read.'), reply, user('And further on?')]);
    expect(getToolMessages(second).at(-1)).toContain('[Characters 100000 to ');
    expect(api.requests.length).toBe(before);
  });

  it('is unavailable in later runs if no store is configured, and the model receives an error', async () => {
    await using rig = await startRig({
      app: buildOperations(api, 'ten'),
      replies: [calls(['ten', {}]), says('Done.'), readResult({}), says('Sorry.')],
    });
    const reply = getMessage(await rig.chat('Read.'));
    await rig.chat([user('Read.'), reply, user('And further on?')]);
    expect(getToolMessages(rig).at(-1)).toMatch(/^The tool failed: no result has the id "r_\w+". Call its tool again$/);
  });

  it('cannot be read in another conversation', async () => {
    await using rig = await start([calls(['ten', {}]), says('Done.')]);
    await rig.chat('Read.');
    const ten = findResultId(getToolMessages(rig).at(-1));
    rig.model.script(calls(['json', {}]), calls(['read_result', { id: ten }]), says('No.'));
    await rig.chat('Something else.');
    expect(getToolMessages(rig).at(-1)).toContain('The tool failed: no result has the id');
  });
});
