import { hopByHop } from '#base/http/hop-by-hop.ts';
import type { CallOrigin } from '../call.ts';

/** What stands for the caller, frames the message, or is said anew by Parley. */
const withheld: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'accept',
  'accept-encoding',
  'expect',
  'cookie',
  'authorization',
  'api-key',
  'x-api-key',
  'forwarded',
  'traceparent',
  'tracestate',
  'x-request-id',
  // By these, programs of the family know which of their deployments is meant.
  'x-dial-deployment-id',
  'x-dial-override-name',
]);
const withheldFamilies = ['x-forwarded-', 'x-upstream-', 'x-dial-application-', 'x-parley-'];

/** What of a caller's request goes on to a program that answers it. */
export interface HandedOn {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it came, without the question mark; empty for none. */
  readonly query: string;
}

const nothing: HandedOn = { headers: {}, query: '' };

/** The query and the header fields of the caller, but for those that are nobody else's business (docs/wire.md, Upstreams). */
export function handedOn(origin: CallOrigin | undefined): HandedOn {
  if (origin === undefined) return nothing;
  const { url = '', rawHeaders } = origin;
  const fields = fieldsOf(rawHeaders);
  const hop = hopByHop(fields.get('connection'));
  const headers = [...fields].filter(([name]) => !hop.has(name) && !isKept(name));
  const at = url.indexOf('?');
  return { headers: Object.fromEntries(headers), query: at === -1 ? '' : url.slice(at + 1) };
}

/** What the caller says it is known by: a key, or a token. */
export function credentialsIn({ rawHeaders }: CallOrigin): string | undefined {
  const fields = fieldsOf(rawHeaders);
  const [, bearer] = /^bearer +(\S.*)$/i.exec(fields.get('authorization')?.trim() ?? '') ?? [];
  return bearer ?? fields.get('api-key') ?? fields.get('x-api-key');
}

function isKept(name: string): boolean {
  return withheld.has(name) || withheldFamilies.some((family) => name.startsWith(family));
}

/** Names in lower case; fields that come again are joined (RFC 9110, 5.3). */
function fieldsOf(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const before = fields.get(name);
    const value = rawHeaders[at + 1] as string;
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}
