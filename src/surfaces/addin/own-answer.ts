import type { ServerResponse } from 'node:http';
import { toLatin1 } from '#base/text/bytes.ts';
import type { AddinRules, Verdict } from './rules.ts';

/** A response that the gateway creates without the service. */
export interface OwnAnswer {
  readonly status: number;
  /** JSON text, or undefined for an empty body. */
  readonly body: string | undefined;
  /** Headers in addition to the CORS headers, as alternating names and values. */
  readonly fields?: readonly string[];
}

const neverStored = ['Cache-Control', 'no-store'];

/** Returns an error in the format of the Messages API. */
export function refusal(status: number, type: string, message: string, fields: readonly string[] = []): OwnAnswer {
  const body = JSON.stringify({ type: 'error', error: { type, message } });
  return { status, body, fields: [...neverStored, ...fields] };
}

const preflight: OwnAnswer = { status: 204, body: undefined };
const wrongPath = refusal(404, 'not_found_error', 'This path does not exist. Only paths under /msgapi/v1/ are served.');
const wrongMethod = refusal(405, 'invalid_request_error', 'This path supports GET, POST, and OPTIONS.', [
  'Allow',
  'GET, POST, OPTIONS',
]);
const wrongOrigin = refusal(
  403,
  'permission_error',
  'Pages of this origin cannot call the gateway. Its operator can allow the origin.',
);

/** Returns the response to a request that is not forwarded. */
export function ownAnswer(verdict: Exclude<Verdict, 'forward'>, { modelList }: AddinRules): OwnAnswer {
  switch (verdict) {
    case 'preflight':
      return preflight;
    case 'models':
      return { status: 200, body: modelList, fields: neverStored };
    case 'wrong_path':
      return wrongPath;
    case 'wrong_method':
      return wrongMethod;
    case 'wrong_origin':
      return wrongOrigin;
  }
}

/** Sends a response with the CORS headers. Headers and body are one write. */
export function sendOwn(response: ServerResponse, { status, body, fields = [] }: OwnAnswer, cors: readonly string[]): void {
  const head = [...cors, 'Vary', 'Origin', ...fields];
  if (body === undefined) {
    response.writeHead(status, head).end();
    return;
  }
  const bytes = toLatin1(body);
  head.push('Content-Type', 'application/json', 'Content-Length', String(bytes.length));
  response.writeHead(status, head).end(bytes, 'latin1');
}
