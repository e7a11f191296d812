import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { toLatin1 } from '#base/text/bytes.ts';

const segment = String.raw`(?!\.{1,2}(?:[/;?]|$))(?:[\w.~!$&'()*+,;=:@-]|%(?!2[5EFef]|5[Cc]|7[Ff])[2-7][\dA-Fa-f])+`;

/**
 * Matches a target under `/msgapi/v1/`. Rejects paths that an upstream could decode or normalize differently: empty or dot
 * segments, backslashes, fragments, non-ASCII characters, and percent-encoded bytes that are dots, slashes, backslashes,
 * percent signs, control characters, or not ASCII.
 */
// Pattern bound: a path of at most 16 kB, built from constants.
const forwardableTarget = new RegExp(String.raw`^/msgapi/v1/(?:${segment}/)*(?:${segment})?(?:\?[!"$-~]*)?$`);
const modelListTarget = /^\/msgapi\/v1\/models(?:\?|$)/;

/** CORS headers that are the same for every response, as alternating names and values. */
export const corsConstants: readonly string[] = [
  'Access-Control-Allow-Credentials',
  'true',
  'Access-Control-Allow-Methods',
  'GET, POST, OPTIONS',
  'Access-Control-Max-Age',
  '86400',
];

/** A model in the gateway's model list. */
export interface AddinModel {
  readonly id: string;
  readonly display_name: string;
}

/** Settings of the operator that decide how the gateway handles a request. */
export interface AddinRules {
  /** Origins whose pages may call the gateway. Undefined allows any origin. */
  readonly allowedOrigins: ReadonlySet<string> | undefined;
  /** Body of `GET /msgapi/v1/models`. */
  readonly modelList: string;
}

export function toRules(models: readonly AddinModel[], allowedOrigins: readonly string[] | undefined): AddinRules {
  const data = models.map(({ id, display_name }) => ({ id, object: 'model', display_name }));
  return {
    allowedOrigins: allowedOrigins && new Set(allowedOrigins),
    modelList: JSON.stringify({ data, object: 'list', has_more: false }),
  };
}

/** A response that the gateway creates without the service. */
export interface LocalReply {
  readonly status: number;
  /** JSON text, or undefined for an empty body. */
  readonly body?: string;
  /** Headers in addition to the CORS headers, as alternating names and values. */
  readonly fields?: readonly string[];
}

const noStore = ['Cache-Control', 'no-store'];

/** Returns an error in the format of the Messages API. */
export function createErrorReply(status: number, type: string, message: string, fields: readonly string[] = []): LocalReply {
  return { status, body: JSON.stringify({ type: 'error', error: { type, message } }), fields: [...noStore, ...fields] };
}

const wrongPath = createErrorReply(404, 'not_found_error', 'This path does not exist. Only paths under /msgapi/v1/ are served.');
const wrongMethod = createErrorReply(405, 'invalid_request_error', 'This path supports GET, POST, and OPTIONS.', [
  'Allow',
  'GET, POST, OPTIONS',
]);
const wrongOrigin = createErrorReply(
  403,
  'permission_error',
  'Pages of this origin cannot call the gateway. Its operator can allow the origin.',
);

/**
 * Returns the gateway's own response to a request (docs/addin.md), or undefined for a request that is forwarded to the service.
 * `target` is the raw request target, and `origin` the value of the header.
 */
export function findLocalReply(
  method: string | undefined,
  target: string,
  origin: string | undefined,
  rules: AddinRules,
): LocalReply | undefined {
  if (method === 'OPTIONS') return { status: 204 };
  if (!forwardableTarget.test(target)) return wrongPath;
  if (method !== 'GET' && method !== 'POST') return wrongMethod;
  if (!mayCall(origin, rules)) return wrongOrigin;
  if (method === 'GET' && modelListTarget.test(target)) return { status: 200, body: rules.modelList, fields: noStore };
  return undefined;
}

/** Returns whether pages of this origin may call the gateway. Clients without an `Origin` are not pages and may call it. */
function mayCall(origin: string | undefined, { allowedOrigins }: AddinRules): boolean {
  return origin === undefined || allowedOrigins === undefined || allowedOrigins.has(origin);
}

/**
 * Returns the CORS headers of a response, except `Vary` (docs/addin.md), as alternating names and values. An origin that
 * may not call the gateway gets no `Access-Control-Allow-Origin`, so its browser hides the response from the page.
 */
export function getCorsFields(headers: IncomingHttpHeaders, rules: AddinRules): string[] {
  const { origin } = headers;
  const requested = headers['access-control-request-headers'];
  const fields = [...corsConstants];
  if (origin !== undefined && mayCall(origin, rules)) fields.push('Access-Control-Allow-Origin', origin);
  if (requested !== undefined) fields.push('Access-Control-Allow-Headers', requested);
  return fields;
}

/** Sends a response with the CORS headers. Headers and body are one write. */
export function sendLocalReply(
  response: ServerResponse,
  { status, body, fields = [] }: LocalReply,
  cors: readonly string[],
): void {
  const head = [...cors, 'Vary', 'Origin', ...fields];
  if (body === undefined) {
    response.writeHead(status, head).end();
    return;
  }
  const bytes = toLatin1(body);
  head.push('Content-Type', 'application/json', 'Content-Length', String(bytes.length));
  response.writeHead(status, head).end(bytes, 'latin1');
}
