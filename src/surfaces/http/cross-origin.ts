import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { setFields, toVary } from './replies/header-fields.ts';

export interface CrossOriginDeps {
  /** The origins in force whose pages may read answers; `*` for any. */
  readonly snapshot: () => ConfigSnapshot;
  /** Requests that are reserved have rules of their own. */
  readonly isReserved: (request: IncomingMessage) => boolean;
}

const anyOrigin = '*';
/** Fields of answers that pages may read, beside those that begin with `X-`. */
const exposed = ['Retry-After', 'X-Request-Id', 'ETag', 'Parley-Ignored', 'Request-Id', 'Mcp-Session-Id'];
const maxAgeSeconds = 600;

/** Whether the pages of an origin may read answers. */
export function isOriginAllowed(origin: string, allowed: readonly string[]): boolean {
  return allowed.includes(origin) || allowed.includes(anyOrigin);
}

/** Puts the fields of CORS on every answer, whoever writes its head, as long as any origin is allowed (docs/wire.md, Paths). */
export function answerOrigins(next: RequestListener, { snapshot, isReserved }: CrossOriginDeps): RequestListener {
  return (request, response) => {
    const allowed = snapshot().configuration.security.allowedOrigins;
    if (allowed.length > 0 && !isReserved(request)) rewriteHead(response, toOriginFields(request.headers, allowed));
    next(request, response);
  };
}

/** What a preflight is told beside that, of a path that takes these methods; nothing to an origin that is not allowed. */
export function toPreflightFields(
  { origin, ...headers }: IncomingHttpHeaders,
  methods: readonly string[],
  allowed: readonly string[],
): Record<string, string> {
  if (origin === undefined || !isOriginAllowed(origin, allowed)) return {};
  const requested = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': methods.join(', '),
    ...(requested !== undefined && { 'access-control-allow-headers': requested }),
    'access-control-max-age': String(maxAgeSeconds),
  };
}

/** Only an origin that is named may send what a browser keeps, such as client certificates. */
function toOriginFields({ origin }: IncomingHttpHeaders, allowed: readonly string[]): Record<string, string> {
  if (origin === undefined) return {};
  if (allowed.includes(origin)) return { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' };
  return allowed.includes(anyOrigin) ? { 'access-control-allow-origin': anyOrigin } : {};
}

function rewriteHead(response: ServerResponse, fields: Readonly<Record<string, string>>): void {
  const writeHead = response.writeHead;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    setFields(response, rest.at(-1));
    response.setHeader('Vary', toVary(response.getHeader('vary')?.toString()));
    setFields(response, fields);
    if (response.hasHeader('access-control-allow-origin'))
      response.setHeader('access-control-expose-headers', toExposed(response.getHeaderNames()));
    return writeHead.call(response, status);
  };
}

function toExposed(names: readonly string[]): string {
  const exposedNames = new Set(exposed.map((name) => name.toLowerCase()));
  return [...exposed, ...names.filter((name) => /^(x|anthropic)-/.test(name) && !exposedNames.has(name))].join(', ');
}
