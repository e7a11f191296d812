import { delta, finish, plainCompletion, text, usage } from '#test/chunks.ts';
import type { UpstreamExchange } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { withKey } from '#test/start-service.ts';

/** Task of an application, as JSON in its message. */
export interface Task {
  /** Requests that the application sends with its key, in sequence. */
  readonly ask: readonly { readonly url: string; readonly method?: string; readonly path: string; readonly body?: unknown }[];
}

/** Result of one of the requests. */
export interface InnerResult {
  readonly status: number;
  readonly text: string;
}

/** Returns the message with a task for an application. */
export function createTask(...requests: Task['ask']): readonly object[] {
  return [{ role: 'user', content: JSON.stringify({ ask: requests } satisfies Task) }];
}

/** Returns a request to a deployment with the key of the application. */
export function chatAt({ url }: { readonly url: string }, deployment: string): Task['ask'][number] {
  const body = { messages: [{ role: 'user', content: 'Hello' }] };
  return { url, path: `/openai/deployments/${deployment}/chat/completions`, body };
}

/** Answers as a model, or as an application at the path `/app`. */
export async function answerAsHost(exchange: UpstreamExchange): Promise<void> {
  const { received, response } = exchange;
  if (received.path === '/app') return runTask(exchange);
  if (received.body.stream === true) return answerInPieces(exchange);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(plainCompletion('hi')));
}

/** Sends a piece every 20 ms. The message specifies the number of pieces, 2 by default. */
async function answerInPieces(exchange: UpstreamExchange): Promise<void> {
  const [{ content }] = exchange.received.body.messages as [{ content: string }];
  exchange.head();
  await exchange.events(delta({ role: 'assistant', content: '' }));
  for (let piece = 0; piece < (Number(content) || 2) && exchange.received.isOpen; piece += 1) {
    await exchange.events(text('x'));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await exchange.events(finish(), usage(7, 5));
  exchange.done();
}

async function runTask({ received, response }: UpstreamExchange): Promise<void> {
  const [{ content }] = received.body.messages as [{ content: string }];
  const { ask: requests } = JSON.parse(content) as Task;
  const results: InnerResult[] = [];
  for (const { url, ...innerRequest } of requests) {
    const answer = await sendRequest(url, { ...innerRequest, headers: withKey(String(received.headers['api-key'])) });
    results.push({ status: answer.status, text: answer.text });
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(plainCompletion(JSON.stringify(results), { usage: undefined })));
}
