import type { ReplyHeaders } from '#base/http/client.ts';
import { isInFamily } from '#base/http/header-fields.ts';

/**
 * Names that applications may not set, although they start with `X-`: Parley's own fields, and fields with a meaning for browsers,
 * proxies, and servers. `reservedHeaderFamilies` has more of them. A configured application may set all other names that start
 * with `X-`, and nothing else. Applications that users saved may set no fields.
 */
export const reservedHeaders: ReadonlySet<string> = new Set([
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-http-method',
  'x-method-override',
  'x-pingback',
  'x-powered-by',
  'x-real-ip',
  'x-request-id',
  'x-robots-tag',
  'x-sourcemap',
  'x-ua-compatible',
  'x-xss-protection',
]);

/** Prefixes of further names that applications may not set (`isInFamily`). */
export const reservedHeaderFamilies: ReadonlySet<string> = new Set([
  // Fields that Parley sets.
  'x-parley-',
  'x-ratelimit-',
  'x-upstream-',
  'x-dial-application-',
  // Browsers.
  'x-content-security-policy-',
  'x-permitted-cross-domain-policies-',
  'x-webkit-csp-',
  // Servers and proxies: nginx, Apache, lighttpd, LiteSpeed, IIS, Perlbal, Envoy, Next.js, clouds.
  'x-accel-',
  'x-sendfile-',
  'x-lighttpd-',
  'x-litespeed-',
  'x-lscache-',
  'x-reproxy-',
  'x-forwarded-',
  'x-original-',
  'x-rewrite-',
  'x-http-method-override-',
  'x-cache-',
  'x-envoy-',
  'x-middleware-',
  'x-nextjs-',
  'x-vercel-',
  'x-amz-',
  'x-amzn-',
  'x-goog-',
  'x-azure-',
  'x-ms-',
]);

/** Returns the fields that start with `X-` that a configured application may set on the reply to the client. */
export function selectReplyHeaders(headers: ReplyHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => maySet(name)));
}

function maySet(name: string): boolean {
  return name.startsWith('x-') && !reservedHeaders.has(name) && !isInFamily(name, reservedHeaderFamilies);
}
