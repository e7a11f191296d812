import type { RequestListener } from 'node:http';

/** One year (RFC 6797), for the host only, because other parties may serve its subdomains. */
const strictTransport = 'max-age=31536000';

/** Tells browsers on every response to use HTTPS only. For servers that end TLS themselves. */
export function requireHttps(next: RequestListener): RequestListener {
  return (request, response) => {
    response.setHeader('strict-transport-security', strictTransport);
    next(request, response);
  };
}
