import type { AddinRules } from './rules.ts';

/** What becomes of a request (docs/wire.md, Add-in). */
export type Verdict = 'preflight' | 'models' | 'forward' | 'wrong_path' | 'wrong_method' | 'wrong_origin';

const segment = String.raw`(?!\.{1,2}(?:[/;?]|$))(?:[\w.~!$&'()*+,;=:@-]|%(?!2[5EFef]|5[Cc]|7[Ff])[2-7][\dA-Fa-f])+`;

/**
 * A target under `/msgapi/v1/` that everyone reads alike who decodes, joins or cleans paths behind the gateway. So no empty
 * or dot segment, no backslash, no fragment, nothing of that percent-encoded, once or twice, and nothing beyond ASCII.
 */
// Pattern bound: a path of at most 16 kB, built from constants.
const forwardable = new RegExp(String.raw`^/msgapi/v1/(?:${segment}/)*(?:${segment})?(?:\?[!"$-~]*)?$`);
const models = /^\/msgapi\/v1\/models(?:\?|$)/;

/** `target` is the request target as it came; `origin` the header field, undefined where there is none. */
export function judge(method: string | undefined, target: string, origin: string | undefined, rules: AddinRules): Verdict {
  if (method === 'OPTIONS') return 'preflight';
  if (!forwardable.test(target)) return 'wrong_path';
  if (method !== 'GET' && method !== 'POST') return 'wrong_method';
  if (!mayCall(origin, rules)) return 'wrong_origin';
  return method === 'GET' && models.test(target) ? 'models' : 'forward';
}

/** Whether a page of this origin may call; who sends none is no page, and may. */
export function mayCall(origin: string | undefined, { allowedOrigins }: AddinRules): boolean {
  return origin === undefined || allowedOrigins === undefined || allowedOrigins.has(origin);
}
