import type { IncomingHttpHeaders } from 'node:http';
import { mayCall } from './judge.ts';
import type { AddinRules } from './rules.ts';

/** The fields of every response that depend on nothing, as names and values in turn. */
export const corsConstants: readonly string[] = [
  'Access-Control-Allow-Credentials',
  'true',
  'Access-Control-Allow-Methods',
  'GET, POST, OPTIONS',
  'Access-Control-Max-Age',
  '86400',
];

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
