import { type ClientRequest, request as openRequest } from 'node:http';
import { requireErrorShape, requireStreamEnd } from '#test/sane-answer.ts';
import { callerKey, getChatPath } from '#test/start-service.ts';

/** One call to a deployment. */
export interface Call {
  readonly deployment: string;
  readonly isStream: boolean;
  /** Uses the Messages surface instead of the Chat surface. */
  readonly isMessages: boolean;
  readonly key?: string;
  readonly prompt?: string;
  /** Maximum duration of the answer. Default: 15 s. */
  readonly maxMs?: number;
  /** Disconnects after this time. */
  readonly leaveAfterMs?: number;
}

/** The result of a call. */
export interface CallResult {
  /** 0 if the connection broke before a response header arrived. */
  readonly status: number;
  readonly text: string;
  /** Error if the connection broke or no more data arrived in time. */
  readonly error: string | undefined;
  readonly ms: number;
  readonly isStream: boolean;
}

const defaultLongestMs = 15_000;

/** Sends a call. Always resolves with the received data. */
export function call(
  url: string,
  { deployment, isStream, isMessages, leaveAfterMs, maxMs = defaultLongestMs, key = callerKey, prompt = 'Hi' }: Call,
): Promise<CallResult> {
  const messages = [{ role: 'user', content: prompt }];
  const body = JSON.stringify({ ...(isMessages && { model: deployment, max_tokens: 50 }), messages, stream: isStream });
  const path = isMessages ? '/msgapi/v1/messages' : getChatPath(deployment);
  return exchange(url, { path, body, key, leaveAfterMs, maxMs });
}

interface Sent {
  readonly path: string;
  readonly body: string;
  readonly key: string;
  readonly leaveAfterMs: number | undefined;
  readonly maxMs: number;
}

function exchange(url: string, { path, body, key, leaveAfterMs, maxMs }: Sent): Promise<CallResult> {
  const { hostname, port } = new URL(url);
  const headers = { 'api-key': key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const beganMs = performance.now();
  return new Promise((resolve) => {
    const request: ClientRequest = openRequest({ hostname, port, path, method: 'POST', headers, agent: false });
    let status = 0;
    let text = '';
    let isStream = false;
    const finish = (error?: string): void => {
      clearTimeout(timer);
      resolve({ status, text, error, ms: performance.now() - beganMs, isStream });
      request.destroy();
    };
    const timer = setTimeout(() => finish('it hangs'), maxMs);
    if (leaveAfterMs !== undefined) setTimeout(finish, leaveAfterMs);
    request.on('error', (error) => finish(error.message));
    request.on('response', (response) => {
      status = response.statusCode ?? 0;
      isStream = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
      response.setEncoding('utf8').on('data', (piece: string) => {
        if (text.length < 2 ** 26) text += piece;
      });
      response.on('error', (error) => finish(error.message)).on('end', () => finish());
    });
    request.end(body);
  });
}

/** The end of a call: an answer with its content, or an error with its status. The status is 200 for an error inside a stream. */
export type Outcome = { readonly kind: 'answer'; readonly content: string } | { readonly kind: 'error'; readonly status: number };

/** Parses the result of a call. Throws if the result is incomplete or does not follow its dialect. */
export function readOutcome({ status, text, error, isStream }: CallResult, isMessages: boolean): Outcome {
  if (error !== undefined) throw new Error(`${error}, after ${status} ${text.slice(0, 200)}`);
  if (text.includes('internal_error')) throw new Error(`an error of Parley: ${text.slice(0, 300)}`);
  if (status >= 400) {
    requireErrorShape(text);
    return { kind: 'error', status };
  }
  if (status !== 200) throw new Error(`the status ${status}`);
  if (!isStream) return { kind: 'answer', content: getContent(text, isMessages) };
  const { isError, content } = requireStreamEnd(text, isMessages);
  return isError ? { kind: 'error', status } : { kind: 'answer', content };
}

interface CompleteReply {
  readonly choices?: readonly { readonly message: { readonly content: string | null } }[];
  readonly content?: readonly ({ readonly text?: string } | null)[];
}

/** Relayed replies of the Messages dialect may also have fields of the other dialect with arbitrary content. */
function getContent(text: string, isMessages: boolean): string {
  const { choices, content } = JSON.parse(text) as CompleteReply;
  const blocks = isMessages ? content?.map((block) => block?.text ?? '') : undefined;
  const texts = blocks ?? choices?.map(({ message }) => message.content ?? '') ?? [];
  return texts.join('');
}
