import { delta, finish, plainCompletion, text, usage } from '#test/chunks.ts';
import type { Answering } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { withKey } from '#test/start-service.ts';

/** What an application is told to do, as JSON in the message to it. */
export interface Errand {
  /** Requests it makes with its key, one after the other. */
  readonly ask: readonly { readonly url: string; readonly method?: string; readonly path: string; readonly body?: unknown }[];
}

/** What one of its requests was answered. */
export interface Told {
  readonly status: number;
  readonly text: string;
}

/** The message that sends an application on an errand. */
export function errand(...requests: Errand['ask']): readonly object[] {
  return [{ role: 'user', content: JSON.stringify({ ask: requests } satisfies Errand) }];
}

/** A request to a deployment with the key of the application. */
export function chatAt({ url }: { readonly url: string }, deployment: string): Errand['ask'][number] {
  const body = { messages: [{ role: 'user', content: 'Hello' }] };
  return { url, path: `/openai/deployments/${deployment}/chat/completions`, body };
}

/** An upstream that is a model, or an application where the path says so. */
export async function answerAsHost(answering: Answering): Promise<void> {
  const { received, response } = answering;
  if (received.path === '/app') return runErrand(answering);
  if (received.body.stream === true) return answerInPieces(answering);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(plainCompletion('hi')));
}

/** Sends a piece every 20 ms: as many as the message to it says, or two. */
async function answerInPieces(answering: Answering): Promise<void> {
  const [{ content }] = answering.received.body.messages as [{ content: string }];
  answering.head();
  await answering.events(delta({ role: 'assistant', content: '' }));
  for (let piece = 0; piece < (Number(content) || 2) && answering.received.isOpen; piece += 1) {
    await answering.events(text('x'));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await answering.events(finish(), usage(7, 5));
  answering.done();
}

async function runErrand({ received, response }: Answering): Promise<void> {
  const [{ content }] = received.body.messages as [{ content: string }];
  const { ask: requests } = JSON.parse(content) as Errand;
  const told: Told[] = [];
  for (const { url, ...asking } of requests) {
    const answer = await sendRequest(url, { ...asking, headers: withKey(String(received.headers['api-key'])) });
    told.push({ status: answer.status, text: answer.text });
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(plainCompletion(JSON.stringify(told), { usage: undefined })));
}
