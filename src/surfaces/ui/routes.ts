import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageSettings } from '#contract/configuration/service.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { ListSignInWays, SignInWay } from '#contract/page/sign-in-way.ts';
import { acceptsEncoding } from '../http/replies/header-fields.ts';
import { branded, brandFile, brandPaths, namesAtRoot, type PageFile, readPage } from './brand.ts';

/**
 * What the page may load, as a Content-Security-Policy: nothing that does not come from this service. It may also ask the
 * identity providers for tokens that people may sign in with, and to revoke them.
 */
function pagePolicy(signInWays: readonly SignInWay[]): string {
  const endpointUrls = signInWays.flatMap(({ endpoints }) => [endpoints?.token, endpoints?.revocation]);
  const origins = endpointUrls.filter((url) => url !== undefined).map(getOrigin);
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
const workerPolicy = "default-src 'none'; connect-src 'self'";

/** Nothing but a plain host: a provider must not be able to write into the policy. */
function getOrigin(url: string): string {
  const { origin } = new URL(url);
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : "'self'";
}

/** A logo that is opened by itself: a picture may hold scripts. */
const logoPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/** The sheet that shows the HTML of an attachment: no origin, no network, one script of its own, styles as they come. */
const sheetPolicy = [
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

/** Where `npm run build:web` puts the page. */
const builtPage = fileURLToPath(new URL('../../../web/dist', import.meta.url));

const notBuilt =
  'The page is not built. `npm start` builds it; so does `npm run build:web`, after which Parley has to be started anew.\n';

/** Of files that have one of their own, by path. */
const policies: ReadonlyMap<string, string> = new Map([
  ['sheet.html', sheetPolicy],
  ['service-worker.js', workerPolicy],
  ['brand/logo', logoPolicy],
  ['brand/icon.svg', logoPolicy],
]);

export interface PageDeps {
  /** Absent: where the page is built. */
  readonly folder?: string;
  readonly listWays: ListSignInWays;
  readonly settings: () => PageSettings;
}

/** The branded page, made once for each configuration. */
function createBranded(): typeof branded {
  const pages = new WeakMap<PageSettings, PageFile>();
  return (index, settings) => {
    const page = pages.get(settings) ?? branded(index, settings);
    pages.set(settings, page);
    return page;
  };
}

/**
 * `/` and what belongs to it: the page for people, and `/v1/sign-in`. No key is needed. The whole page is read when a file of it is
 * first asked for, and kept: a page that is built anew meanwhile is served after the next start.
 */
export function uiRoutes(app: FastifyInstance, { folder = builtPage, listWays, settings }: PageDeps): void {
  signInRoute(app, listWays);
  const names = namesAtRoot(folder);
  if (names.length === 0) {
    app.get('/', (_request, reply) => reply.code(503).type('text/plain; charset=utf-8').send(notBuilt));
    return;
  }
  const find = createFind(folder);
  const brandedOnce = createBranded();
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const built = await find('index.html');
    const file = built && brandedOnce(built, settings());
    const policy = pagePolicy(await listWays());
    return sendFile(request, reply, file && { ...file, policy, etag: buildEtag(file.etag, policy) });
  };
  app.get('/', sendPage);
  app.get('/index.html', sendPage);
  for (const name of names.filter((file) => file !== 'index.html')) {
    const policy = policies.get(name);
    app.get(`/${name}`, async (request, reply) => {
      const file = await find(name);
      return sendFile(request, reply, file && { ...file, policy });
    });
  }
  for (const path of brandPaths) {
    const policy = policies.get(path);
    app.get(`/${path}`, async (request, reply) => {
      const file = brandFile(path, settings());
      return sendFile(request, reply, file && { ...file, policy });
    });
  }
  // Under a name that stays, for the API reference.
  app.get('/typeface.woff2', async (request, reply) => {
    const file = await find(/^assets\/public-sans[^/]*\.woff2$/);
    return sendFile(request, reply, file && { ...file, path: 'typeface.woff2' });
  });
  app.get<{ Params: { '*': string } }>('/assets/*', async (request, reply) =>
    sendFile(request, reply, await find(`assets/${request.params['*']}`)),
  );
}

/** Finds a file of the page by its path, or the first whose path matches. All who ask while the page is being read wait for the same reading; one that fails is tried again. */
function createFind(folder: string): (path: string | RegExp) => Promise<PageFile | undefined> {
  let page: Promise<ReadonlyMap<string, PageFile>> | undefined;
  return async (path) => {
    page ??= readPage(folder).catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    const files = await page;
    return typeof path === 'string' ? files.get(path) : [...files.values()].find((file) => path.test(file.path));
  };
}

/** The ways to sign in that the page offers beside a key. Open to all: who asks has not signed in yet. */
function signInRoute(app: FastifyInstance, listWays: ListSignInWays): void {
  app.get('/v1/sign-in', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { data: await listWays(), object: 'list' };
  });
}

/** A copy that a browser keeps keeps its policy too, and is not to be used under another. */
function buildEtag(fileEtag: string, policy: string): string {
  return `"${createHash('sha256').update(fileEtag).update(policy).digest('base64url').slice(0, 22)}"`;
}

interface ServedFile extends PageFile {
  readonly policy?: string | undefined;
}

function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: ServedFile | undefined): FastifyReply {
  if (file === undefined) throw new ParleyError('route_not_found', 'The page has no such file.');
  const { policy } = file;
  reply.headers({
    'cache-control': file.path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    ...(policy !== undefined && { 'content-security-policy': policy }),
  });
  if (headers['if-none-match']?.includes(file.etag)) return reply.code(304).send();
  const [encoding, bytes] = choose(file, headers['accept-encoding']);
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(file.contentType).send(bytes);
}

/** Returns the smallest copy that the client accepts. */
function choose(file: PageFile, accepted: string | undefined): readonly [encoding: string | undefined, bytes: Buffer] {
  if (file.brotli !== undefined && acceptsEncoding(accepted, 'br')) return ['br', file.brotli];
  if (file.gzip !== undefined && acceptsEncoding(accepted, 'gzip')) return ['gzip', file.gzip];
  return [undefined, file.plain];
}
