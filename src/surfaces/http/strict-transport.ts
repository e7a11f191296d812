import type { RequestListener } from 'node:http';

/** A year (RFC 6797), for the host itself: its subdomains may be served by others. */
const strictTransport = 'max-age=31536000';

/** Tells browsers on every response to use HTTPS only. For servers that end TLS themselves. */
export function requireHttps(next: RequestListener): RequestListener {
  return (request, response) => {
    response.setHeader('strict-transport-security', strictTransport);
    next(request, response);
  };
}
