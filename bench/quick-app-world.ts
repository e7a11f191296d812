import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** Number of model calls that call all tools. The next call gives the answer. */
export const toolTurns = 5;
/** Duration of each tool in milliseconds. */
export const toolPaces: readonly (readonly [name: string, ms: number])[] = [
  ['look_up', 100],
  ['work_out', 200],
  ['fetch_more', 300],
];
const modelMs = 50;
const answerChunks = 10;
const result = JSON.stringify({
  rows: Array.from({ length: 20 }, (_, index) => ({ nth: index, text: 'A line of the result.' })),
});

/** A model and its tools on one port. */
export interface World {
  readonly url: string;
  /** Time of `performance.now` of each tool response by `toKey`. */
  readonly answeredAtMs: Map<string, number>;
  close(): void;
}

export function toKey(run: number | string, turn: number | string, tool: string): string {
  return `${run} ${turn} ${tool}`;
}

export async function startWorld(): Promise<World> {
  const answeredAtMs = new Map<string, number>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    if (url.pathname.startsWith('/tool/')) void runTool(url, response, answeredAtMs);
    else void answerAsModel(request, response);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, answeredAtMs, close: () => void server.close() };
}

async function runTool(
  { pathname, searchParams }: URL,
  response: ServerResponse,
  answeredAtMs: Map<string, number>,
): Promise<void> {
  const name = pathname.slice('/tool/'.length);
  await sleep(toolPaces.find(([tool]) => tool === name)?.[1] ?? 0);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': result.length });
  answeredAtMs.set(toKey(searchParams.get('run') ?? '', searchParams.get('turn') ?? '', name), performance.now());
  response.end(result);
}

interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly unknown[];
}

/** Replies as the model. The number in the only user message identifies the run. */
async function answerAsModel(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { messages, tools } = JSON.parse(await text(request)) as ModelRequest;
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const run = messages.find(({ role }) => role === 'user')?.content ?? '';
  await sleep(modelMs);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (tools === undefined || turn >= toolTurns) return sendAnswer(response);
  const tool_calls = toolPaces.map(([name], index) => ({
    ...{ index, id: `call_${turn}_${index}`, type: 'function' },
    function: { name, arguments: JSON.stringify({ run, turn: String(turn) }) },
  }));
  response.end(toEvents({ role: 'assistant', content: null, tool_calls }, 'tool_calls'));
}

async function sendAnswer(response: ServerResponse): Promise<void> {
  for (let index = 0; index < answerChunks; index += 1) response.write(toEvent({ content: 'word ' }));
  response.end(toEvents({}, 'stop'));
}

function toEvents(delta: object, finishReason: string): string {
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const last = { ...baseChunk, choices: [], usage };
  return `${toEvent(delta)}${toEvent({}, finishReason)}data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`;
}

const baseChunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };

function toEvent(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ ...baseChunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
