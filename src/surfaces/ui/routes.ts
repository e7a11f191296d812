import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageSettings } from '#contract/configuration/service.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { ListSignInOptions, SignInOption } from '#contract/page/sign-in-option.ts';
import { acceptsEncoding } from '../http/replies/header-fields.ts';
import { applyBranding, brandPaths, buildBrandFile, digest, listRootFiles, type PageFile, readPage } from './page-files.ts';

/**
 * Returns the Content-Security-Policy of the page, which allows only content from this service. The page may also connect to the
 * identity providers, to get and revoke tokens.
 */
function buildPagePolicy(signInOptions: readonly SignInOption[]): string {
  const endpointUrls = signInOptions.flatMap(({ endpoints }) => [endpoints?.token, endpoints?.revocation]);
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
    // Allows creating the service worker from its URL. No other text becomes a script.
    'trusted-types parley-worker',
  ].join('; ');
}

/** Policy of the service worker, which may connect only to this service. */
const workerPolicy = "default-src 'none'; connect-src 'self'";

/** Returns the origin of a URL. A URL of a provider cannot add anything else to the policy. */
function getOrigin(url: string): string {
  const { origin } = new URL(url);
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : "'self'";
}

/** Policy of a logo that is opened directly. An SVG image may contain scripts. */
const logoPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/** Policy of the frames that show HTML and diagrams: no origin, no network, only scripts of this service, inline styles. */
const framePolicy = [
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

/** Output folder of `npm run build:web`. */
const builtPage = fileURLToPath(new URL('../../../web/dist', import.meta.url));

const notBuiltMessage =
  'The page is not built. Run `npm start`, which builds it. Or run `npm run build:web` and restart Parley.\n';

/** Policies of individual files, by path. */
const policies: ReadonlyMap<string, string> = new Map([
  ['sheet.html', framePolicy],
  ['diagram.html', framePolicy],
  ['service-worker.js', workerPolicy],
  ['brand/logo', logoPolicy],
  ['brand/icon.svg', logoPolicy],
]);

export interface PageDeps {
  /** Page folder. Undefined selects the build output. */
  readonly folder?: string;
  readonly listSignInOptions: ListSignInOptions;
  /** Returns whether the node waits for the token that creates the first administrator. */
  readonly isFirstStart: () => boolean;
  readonly settings: () => PageSettings;
}

/** Returns `applyBranding` with a cache, so that it runs once per configuration. */
function createCachedBranding(): typeof applyBranding {
  const pages = new WeakMap<PageSettings, PageFile>();
  return (index, settings) => {
    const page = pages.get(settings) ?? applyBranding(index, settings);
    pages.set(settings, page);
    return page;
  };
}

/**
 * Registers the page at `/` and its files, and `/v1/sign-in`. No key is required. The page is read completely on the first
 * request and cached, so a new build is served only after a restart.
 */
export function uiRoutes(app: FastifyInstance, deps: PageDeps): void {
  signInRoute(app, deps);
  const { folder = builtPage, listSignInOptions, settings } = deps;
  const names = listRootFiles(folder);
  if (names.length === 0) {
    app.get('/', (_request, reply) => reply.code(503).type('text/plain; charset=utf-8').send(notBuiltMessage));
    return;
  }
  const find = createFileFinder(folder);
  const applyCachedBranding = createCachedBranding();
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const built = await find('index.html');
    const current = settings();
    const file = built && applyCachedBranding(built, current);
    const policy = buildPagePolicy(await listSignInOptions());
    const fields = { policy, isCacheable: current.offline };
    return sendFile(request, reply, file && { ...file, ...fields, etag: buildEtag(file.etag, policy) });
  };
  app.get('/', sendPage);
  app.get('/index.html', sendPage);
  const serve = (path: string, findFile: () => PageFile | undefined | Promise<PageFile | undefined>): void => {
    const policy = policies.get(path);
    app.get(`/${path}`, async (request, reply) => {
      const file = await findFile();
      return sendFile(request, reply, file && { ...file, policy });
    });
  };
  for (const name of names.filter((file) => file !== 'index.html')) serve(name, () => find(name));
  for (const path of brandPaths) serve(path, () => buildBrandFile(path, settings()));
  // The font under a stable name, for the API reference.
  app.get('/typeface.woff2', async (request, reply) => {
    const file = await find(/^assets\/public-sans[^/]*\.woff2$/);
    return sendFile(request, reply, file && { ...file, path: 'typeface.woff2' });
  });
  app.get<{ Params: { '*': string } }>('/assets/*', async (request, reply) =>
    sendFile(request, reply, await find(`assets/${request.params['*']}`)),
  );
}

/**
 * Returns a function that finds a file of the page by its path, or the first file whose path matches. Concurrent requests share
 * one read. A failed read is retried.
 */
function createFileFinder(folder: string): (path: string | RegExp) => Promise<PageFile | undefined> {
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

/** Registers the list of sign-in methods in addition to keys. It requires no key, because its clients are not signed in yet. */
function signInRoute(app: FastifyInstance, { listSignInOptions, isFirstStart }: PageDeps): void {
  app.get('/v1/sign-in', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { data: await listSignInOptions(), object: 'list', ...(isFirstStart() && { firstStart: true }) };
  });
}

/** A cached copy includes its policy, so the ETag must change with the policy. */
function buildEtag(fileEtag: string, policy: string): string {
  return `"${digest(fileEtag + policy)}"`;
}

interface ServedFile extends PageFile {
  readonly policy?: string | undefined;
  /** `false`: browsers and the service worker of the page must not store the file. */
  readonly isCacheable?: boolean;
}

function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: ServedFile | undefined): FastifyReply {
  if (file === undefined) throw new ParleyError('route_not_found', 'The page does not contain this file.');
  const { policy } = file;
  reply.headers({
    'cache-control': getCacheControl(file),
    etag: file.etag,
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    ...(policy !== undefined && { 'content-security-policy': policy }),
  });
  if (headers['if-none-match']?.includes(file.etag)) return reply.code(304).send();
  const [encoding, bytes] = chooseEncoding(file, headers['accept-encoding']);
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(file.contentType).send(bytes);
}

function getCacheControl({ path, isCacheable }: ServedFile): string {
  if (isCacheable === false) return 'no-store';
  return path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
}

/** Returns the smallest copy that the client accepts. */
function chooseEncoding(file: PageFile, accepted: string | undefined): readonly [encoding: string | undefined, bytes: Buffer] {
  if (file.brotli !== undefined && acceptsEncoding(accepted, 'br')) return ['br', file.brotli];
  if (file.gzip !== undefined && acceptsEncoding(accepted, 'gzip')) return ['gzip', file.gzip];
  return [undefined, file.plain];
}
