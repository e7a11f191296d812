import type { IncomingHttpHeaders } from 'node:http';

const segment = String.raw`(?!\.{1,2}(?:[/;?]|$))(?:[\w.~!$&'()*+,;=:@-]|%(?!2[5EFef]|5[Cc]|7[Ff])[2-7][\dA-Fa-f])+`;

/**
 * A target under `/msgapi/v1/` that everyone reads alike who decodes, joins or cleans paths behind the gateway. So no empty
 * or dot segment, no backslash, no fragment, nothing of that percent-encoded, once or twice, and nothing beyond ASCII.
 */
// Pattern bound: a path of at most 16 kB, built from constants.
const forwardable = new RegExp(String.raw`^/msgapi/v1/(?:${segment}/)*(?:${segment})?(?:\?[!"$-~]*)?$`);
const models = /^\/msgapi\/v1\/models(?:\?|$)/;

/** The fields of every response that depend on nothing, as names and values in turn. */
export const corsConstants: readonly string[] = [
  'Access-Control-Allow-Credentials',
  'true',
  'Access-Control-Allow-Methods',
  'GET, POST, OPTIONS',
  'Access-Control-Max-Age',
  '86400',
];

/** A model as the gateway lists it. */
export interface AddinModel {
  readonly id: string;
  readonly display_name: string;
}

/** What an operator decides about the gateway, as it is in force for one request. */
export interface AddinRules {
  /** Origins whose pages may call; undefined: any. */
  readonly allowedOrigins: ReadonlySet<string> | undefined;
  /** The body of `GET /msgapi/v1/models`. */
  readonly modelList: string;
}

export function toRules(models: readonly AddinModel[], allowedOrigins: readonly string[] | undefined): AddinRules {
  const data = models.map(({ id, display_name }) => ({ id, object: 'model', display_name }));
  return {
    allowedOrigins: allowedOrigins && new Set(allowedOrigins),
    modelList: JSON.stringify({ data, object: 'list', has_more: false }),
  };
}

/** What becomes of a request (docs/wire.md, Add-in). */
export type Verdict = 'preflight' | 'models' | 'forward' | 'wrong_path' | 'wrong_method' | 'wrong_origin';

/** `target` is the request target as it came; `origin` the header field, undefined where there is none. */
export function judge(method: string | undefined, target: string, origin: string | undefined, rules: AddinRules): Verdict {
  if (method === 'OPTIONS') return 'preflight';
  if (!forwardable.test(target)) return 'wrong_path';
  if (method !== 'GET' && method !== 'POST') return 'wrong_method';
  if (!mayCall(origin, rules)) return 'wrong_origin';
  return method === 'GET' && models.test(target) ? 'models' : 'forward';
}

/** Whether a page of this origin may call; who sends none is no page, and may. */
function mayCall(origin: string | undefined, { allowedOrigins }: AddinRules): boolean {
  return origin === undefined || allowedOrigins === undefined || allowedOrigins.has(origin);
}

/**
 * The CORS fields of the response to a request, but for `Vary` (docs/wire.md, Add-in), as names and values in turn. An origin that may
 * not call gets no `Access-Control-Allow-Origin`: its browser then shows the page nothing.
 */
export function corsFields(headers: IncomingHttpHeaders, rules: AddinRules): string[] {
  const { origin } = headers;
  const requested = headers['access-control-request-headers'];
  const fields = [...corsConstants];
  if (origin !== undefined && mayCall(origin, rules)) fields.push('Access-Control-Allow-Origin', origin);
  if (requested !== undefined) fields.push('Access-Control-Allow-Headers', requested);
  return fields;
}
