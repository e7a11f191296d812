import type { IncomingHttpHeaders } from 'node:http';

const segment = String.raw`(?!\.{1,2}(?:[/;?]|$))(?:[\w.~!$&'()*+,;=:@-]|%(?!2[5EFef]|5[Cc]|7[Ff])[2-7][\dA-Fa-f])+`;

/**
 * Matches a target under `/msgapi/v1/`. Rejects paths that an upstream could decode or normalize differently: empty or dot
 * segments, backslashes, fragments, those characters percent-encoded once or twice, and non-ASCII characters.
 */
// Pattern bound: a path of at most 16 kB, built from constants.
const forwardable = new RegExp(String.raw`^/msgapi/v1/(?:${segment}/)*(?:${segment})?(?:\?[!"$-~]*)?$`);
const models = /^\/msgapi\/v1\/models(?:\?|$)/;

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

/** Gateway settings of the operator that apply to one request. */
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

/** Handling of a request (docs/addin.md). */
export type Verdict = 'preflight' | 'models' | 'forward' | 'wrong_path' | 'wrong_method' | 'wrong_origin';

/** Returns how to handle a request. `target` is the raw request target, and `origin` the value of the header. */
export function judge(method: string | undefined, target: string, origin: string | undefined, rules: AddinRules): Verdict {
  if (method === 'OPTIONS') return 'preflight';
  if (!forwardable.test(target)) return 'wrong_path';
  if (method !== 'GET' && method !== 'POST') return 'wrong_method';
  if (!mayCall(origin, rules)) return 'wrong_origin';
  return method === 'GET' && models.test(target) ? 'models' : 'forward';
}

/** Returns whether pages of this origin may call the gateway. Clients without an `Origin` are not pages and may call it. */
function mayCall(origin: string | undefined, { allowedOrigins }: AddinRules): boolean {
  return origin === undefined || allowedOrigins === undefined || allowedOrigins.has(origin);
}

/**
 * Returns the CORS headers of a response, except `Vary` (docs/addin.md), as alternating names and values. An origin that
 * may not call the gateway gets no `Access-Control-Allow-Origin`, so its browser hides the response from the page.
 */
export function corsFields(headers: IncomingHttpHeaders, rules: AddinRules): string[] {
  const { origin } = headers;
  const requested = headers['access-control-request-headers'];
  const fields = [...corsConstants];
  if (origin !== undefined && mayCall(origin, rules)) fields.push('Access-Control-Allow-Origin', origin);
  if (requested !== undefined) fields.push('Access-Control-Allow-Headers', requested);
  return fields;
}
