import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';

/** Colors of the web page (web/src/style/tokens.css) under Scalar's names. Every text has a contrast of at least 4.5:1. */
const colors = {
  light: {
    ...{ 'color-1': '#24221e', 'color-2': '#5f594f', 'color-3': '#5f594f', 'color-accent': '#17605a' },
    ...{ 'background-1': '#fbfaf7', 'background-2': '#f2efe9', 'background-3': '#e3ded4', 'background-accent': '#e2efec' },
    ...{ 'border-color': '#e3ded4', 'color-green': '#2f6f3e', 'color-red': '#a42b22', 'color-yellow': '#865308' },
    ...{ 'color-blue': '#1d5c8f', 'color-orange': '#9a4a0b', 'color-purple': '#54458f' },
  },
  dark: {
    ...{ 'color-1': '#ece8e0', 'color-2': '#b4ada1', 'color-3': '#b4ada1', 'color-accent': '#78c9bc' },
    ...{ 'background-1': '#191816', 'background-2': '#22201d', 'background-3': '#39352f', 'background-accent': '#1f3632' },
    ...{ 'border-color': '#39352f', 'color-green': '#86c894', 'color-red': '#f19c93', 'color-yellow': '#f0b96b' },
    ...{ 'color-blue': '#8fc3ee', 'color-orange': '#eeb07c', 'color-purple': '#c4b8f2' },
  },
};

function toRule(mode: 'light' | 'dark'): string {
  const lines = Object.entries(colors[mode]).map(([name, color]) => `--scalar-${name}: ${color};`);
  return `.${mode}-mode { ${lines.join(' ')} }`;
}

/** Style of the API reference, which looks like Parley's web page. */
const docsTheme = `@font-face { font-family: "Public Sans"; src: url("typeface.woff2"); font-weight: 400 700; font-display: swap; }
${toRule('light')}
${toRule('dark')}
:root { --scalar-font: "Public Sans", system-ui, "Segoe UI", Roboto, Arial, sans-serif; }
`;

/**
 * Allows only content from this node. Scalar inserts style sheets and style attributes by script, so inline styles are allowed.
 */
const contentSecurityPolicy = [
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

const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
</head>
<body>
<div id="app"></div>
<noscript>This page requires JavaScript. <a href="openapi.json">openapi.json</a> has the same content.</noscript>
<script src="docs/scalar.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** Options of Scalar that disable all connections to other hosts. */
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

/**
 * Starts Scalar. Also fixes accessibility problems of elements that Scalar adds: buttons without a name, and scrollable lists that
 * the keyboard cannot reach.
 */
const startScript = `Scalar.createApiReference('#app', ${JSON.stringify(scalarOptions)});
new MutationObserver(() => {
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) button.ariaLabel = 'Copy';
  for (const list of document.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0;
}).observe(document.body, { childList: true, subtree: true });
`;
const scriptType = 'application/javascript; charset=utf-8';

/** Registers `/docs`, the API reference, which needs no external resources. Its 4 MB script is read on the first request. */
export function docsRoutes(app: FastifyInstance): void {
  let scalarScript: Promise<Uint8Array> | undefined;
  app.get('/docs', (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({ 'cache-control': 'no-cache', 'content-security-policy': contentSecurityPolicy })
      .header('referrer-policy', 'no-referrer')
      .send(docsPage),
  );
  app.get('/docs/start.js', (_request, reply) => reply.type(scriptType).header('cache-control', 'no-cache').send(startScript));
  app.get('/docs/scalar.js', async (_request, reply) => {
    scalarScript ??= readScalar().catch((error: unknown) => {
      scalarScript = undefined;
      throw error;
    });
    const headers = { 'content-encoding': 'gzip', 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' };
    return reply
      .type(scriptType)
      .headers(headers)
      .send(Buffer.from(await scalarScript));
  });
}

/** Returns the compressed script from Scalar's package. */
async function readScalar(): Promise<Uint8Array> {
  const worker = new Worker(new URL('./pack-scalar.ts', import.meta.url));
  const [compressed] = await once(worker, 'message');
  return compressed;
}
