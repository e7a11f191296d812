import { shellCaches } from '../src/offline/shell-caches.ts';
import { isGatewayError } from '../src/service/is-gateway-error.ts';

/**
 * Stores the page as built, so that it opens without a network. API responses are not stored. Each build has its own cache. Files
 * of the previous build stay until the next build, because open tabs may need them.
 */
declare const self: ServiceWorkerGlobalScope;

/** Set by the build: its ID, its files relative to the page, and the entry script. */
declare const BUILD: { readonly id: string; readonly files: readonly string[]; readonly entry: string };

const own = `${shellCaches}${BUILD.id}`;
const { scope } = self.registration;
const files = new Set(BUILD.files.map((file) => new URL(file, scope).href));
/** Maximum time to wait for the network if a stored page exists. */
const patienceMs = 5_000;

self.addEventListener('install', (event) => {
  event.waitUntil(install().then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(removeOld().then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(scope)) return;
  const { pathname, href } = new URL(request.url);
  const place = pathname.slice(new URL(scope).pathname.length);
  if (request.mode === 'navigate') {
    if (place === '' || place === 'index.html') event.respondWith(answerPage(event));
  } else if (place.startsWith('assets/') || isOfBrand(href)) event.respondWith(answerKept(request));
  else if (files.has(href)) event.respondWith(fetch(request).catch(() => keptOr(request)));
});

/** Stores the page and all its files. Fails if the service serves another build, and is repeated later. */
async function install(): Promise<void> {
  const cache = await caches.open(own);
  const page = await fetch(scope, { cache: 'no-cache', credentials: 'same-origin' });
  if (!(await keepPage(page, cache))) throw new Error('The service serves another build of the page');
  await cache.addAll([...files]);
}

/** Stores the page if it belongs to this build, with the branding files that it names. */
async function keepPage(page: Response, cache: Cache): Promise<boolean> {
  if (!page.ok || page.redirected) return false;
  const text = await page.clone().text();
  if (!text.includes(BUILD.entry)) return false;
  // Pattern bound: the start page of this build.
  const brand = text.match(/\.\/brand\/[\w.]+\?[\w-]+/g) ?? [];
  await cache.addAll(brand.map((address) => new URL(address, scope).href));
  await cache.put(scope, page);
  return true;
}

/** Returns the page of the service, or the stored page if the service is unavailable. */
async function answerPage(event: FetchEvent): Promise<Response> {
  const fresh = fetch(event.request);
  const kept = await find(scope);
  if (kept === undefined) return fresh;
  event.waitUntil(fresh.then((page) => keepLater(page.clone())).catch(() => undefined));
  const late = new Promise<Response>((resolve) => setTimeout(resolve, patienceMs, kept));
  const page = await Promise.race([fresh.catch(() => kept), late]);
  return isGatewayError(page.status) ? kept : page;
}

async function keepLater(page: Response): Promise<void> {
  await keepPage(page, await caches.open(own));
}

/** The content of an address never changes: a stored file is used, and other files are stored after loading. */
async function answerKept(request: Request): Promise<Response> {
  const kept = await find(request);
  if (kept !== undefined) return kept;
  const fresh = await fetch(request);
  if (fresh.ok) await (await caches.open(own)).put(request, fresh.clone());
  return fresh;
}

async function keptOr(request: Request): Promise<Response> {
  return (await find(request)) ?? Response.error();
}

/** Searches the cache of this build first. A plain search would start with the oldest cache. */
async function find(request: Request | string): Promise<Response | undefined> {
  const cache = await caches.open(own);
  return (await cache.match(request, { ignoreVary: true })) ?? (await caches.match(request, { ignoreVary: true }));
}

function isOfBrand(href: string): boolean {
  return /\/brand\/[\w.]+\?[\w-]+$/.test(href) && href.startsWith(new URL('brand/', scope).href);
}

/** Keeps the previous build, because its tabs may not have loaded all files. */
async function removeOld(): Promise<void> {
  const builds = (await caches.keys()).filter((name) => name.startsWith(shellCaches) && name !== own);
  for (const name of builds.slice(0, -1)) await caches.delete(name);
}
