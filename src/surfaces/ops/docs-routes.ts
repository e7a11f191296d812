import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { docsTheme } from './docs-theme.ts';

/** Everything comes from this node. Scalar puts its style sheets and style attributes in by script, hence `unsafe-inline` for styles alone. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript; <a href="openapi.json">openapi.json</a> says the same.</noscript>
<script src="docs/scalar.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** All that would reach beyond this node is switched off. */
const scalarOptions = {
  url: 'openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: false,
  operationTitleSource: 'path',
  theme: 'none',
  customCss: docsTheme,
};

/** Scalar leaves buttons without a name, and lists that scroll out of reach of the keyboard: each is mended as it comes. */
const start = `Scalar.createApiReference('#app', ${JSON.stringify(scalarOptions)});
new MutationObserver(() => {
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) button.ariaLabel = 'Copy';
  for (const list of document.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0;
}).observe(document.body, { childList: true, subtree: true });
`;
const script = 'application/javascript; charset=utf-8';

/** `/docs`: the API reference as a page that needs nothing from outside. Its 4 MB of script are read on the first visit. */
export function docsRoutes(app: FastifyInstance): void {
  let scalar: Promise<Uint8Array> | undefined;
  app.get('/docs', (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({ 'cache-control': 'no-cache', 'content-security-policy': policy })
      .header('referrer-policy', 'no-referrer')
      .send(page),
  );
  app.get('/docs/start.js', (_request, reply) => reply.type(script).header('cache-control', 'no-cache').send(start));
  app.get('/docs/scalar.js', async (_request, reply) => {
    scalar ??= readScalar().catch((thrown: unknown) => {
      scalar = undefined;
      throw thrown;
    });
    const headers = { 'content-encoding': 'gzip', 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' };
    return reply
      .type(script)
      .headers(headers)
      .send(Buffer.from(await scalar));
  });
}

/** The script out of Scalar's package, compressed. */
async function readScalar(): Promise<Uint8Array> {
  const worker = new Worker(new URL('./pack-scalar.ts', import.meta.url));
  const [packed] = await once(worker, 'message');
  return packed;
}
