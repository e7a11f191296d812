import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { rewriteHead, setFields, toVary } from './replies/header-fields.ts';

export interface CrossOriginDeps {
  /** Provides the allowed origins. `*` allows any origin. */
  readonly snapshot: () => ConfigSnapshot;
  /** Returns whether a request is exempt because it has its own CORS rules. */
  readonly isExempt: (request: IncomingMessage) => boolean;
}

const anyOrigin = '*';
/** Response headers that pages may read, in addition to those that start with `x-` or `anthropic-`. */
const exposedHeaders = ['Retry-After', 'X-Request-Id', 'ETag', 'Parley-Ignored', 'Request-Id', 'Mcp-Session-Id'];
const lowerExposedHeaders: ReadonlySet<string> = new Set(exposedHeaders.map((name) => name.toLowerCase()));
const maxAgeSeconds = 600;

/** Returns whether pages of an origin may read responses. */
export function isOriginAllowed(origin: string, allowed: readonly string[]): boolean {
  return allowed.includes(origin) || allowed.includes(anyOrigin);
}

/**
 * Adds CORS headers to every response if at least one origin is allowed, even if a handler writes the headers without the
 * framework (docs/wire.md, Paths).
 */
export function withCorsHeaders(next: RequestListener, { snapshot, isExempt }: CrossOriginDeps): RequestListener {
  return (request, response) => {
    const allowed = snapshot().configuration.security.allowedOrigins;
    if (allowed.length > 0 && !isExempt(request)) {
      const fields = toOriginFields(request.headers, allowed);
      rewriteHead(response, () => {
        response.setHeader('Vary', toVary(response.getHeader('vary')?.toString()));
        setFields(response, fields);
        if (response.hasHeader('access-control-allow-origin'))
          response.setHeader('access-control-expose-headers', toExposedHeaders(response.getHeaderNames()));
      });
    }
    next(request, response);
  };
}

/** Returns the additional CORS headers of a preflight response. Empty if the origin is not allowed. */
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

/** Only a listed origin may send credentials that browsers store, such as client certificates. */
function toOriginFields({ origin }: IncomingHttpHeaders, allowed: readonly string[]): Record<string, string> {
  if (origin === undefined) return {};
  if (allowed.includes(origin)) return { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' };
  return allowed.includes(anyOrigin) ? { 'access-control-allow-origin': anyOrigin } : {};
}

function toExposedHeaders(names: readonly string[]): string {
  return [...exposedHeaders, ...names.filter((name) => /^(x|anthropic)-/.test(name) && !lowerExposedHeaders.has(name))].join(
    ', ',
  );
}
