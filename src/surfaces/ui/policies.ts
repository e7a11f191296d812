import type { SignInWay } from '#contract/sign-in-way.ts';

/**
 * What the page may load, as a Content-Security-Policy: nothing that does not come from this service. It may also ask the
 * identity providers for tokens that people may sign in with, and to revoke them.
 */
export function pagePolicy(ways: readonly SignInWay[]): string {
  const asked = ways.flatMap(({ endpoints }) => [endpoints?.token, endpoints?.revocation]);
  const origins = asked.filter((url) => url !== undefined).map(originOf);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    'media-src blob:',
    "font-src 'self'",
    ['connect-src', ...new Set(["'self'", ...origins])].join(' '),
    "frame-src 'self' blob:",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // Names the worker that keeps the page; nothing else makes a script out of text.
    'trusted-types parley-worker',
  ].join('; ');
}

/** The worker that keeps the page: it asks this service, and nobody else. */
export const workerPolicy = "default-src 'none'; connect-src 'self'";

/** Nothing but a plain host: a provider must not be able to write into the policy. */
function originOf(url: string): string {
  const { origin } = new URL(url);
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : "'self'";
}

/** A logo that is opened by itself: a picture may hold scripts. */
export const logoPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/** The sheet that shows the HTML of an attachment: no origin, no network, one script of its own, styles as they come. */
export const sheetPolicy = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');
