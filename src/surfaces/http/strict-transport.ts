import type { RequestListener } from 'node:http';

/** One year (RFC 6797), for the host only, because other parties may serve its subdomains. */
const strictTransport = 'max-age=31536000';

/** Adds the `Strict-Transport-Security` header to every response. For servers that terminate TLS themselves. */
export function requireHttps(next: RequestListener): RequestListener {
  return (request, response) => {
    response.setHeader('strict-transport-security', strictTransport);
    next(request, response);
  };
}
