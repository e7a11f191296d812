import { shellCaches } from '../src/offline/shell-caches.ts';
import { isGatewayError } from '../src/service/is-gateway-error.ts';

/**
 * Stores the page as built, so that it opens without a network. API responses are not stored. Each build has its own cache. Files
 * of the previous build stay until the next build, because open tabs may need them.
 */
declare const self: ServiceWorkerGlobalScope;

/** Set by the build: its ID, its files relative to the page, and the entry script. */
declare const BUILD: { readonly id: string; readonly files: readonly string[]; readonly entry: string };

const cacheName = `${shellCaches}${BUILD.id}`;
const { scope } = self.registration;
const files = new Set(BUILD.files.map((file) => new URL(file, scope).href));
/** Maximum time to wait for the network if a stored page exists. */
const maxWaitMs = 5_000;

self.addEventListener('install', (event) => {
  event.waitUntil(install().then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(removeOldCaches().then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(scope)) return;
  const { pathname, href } = new URL(request.url);
  const path = pathname.slice(new URL(scope).pathname.length);
  if (request.mode === 'navigate') {
    if (path === '' || path === 'index.html') event.respondWith(respondWithPage(event));
  } else if (path.startsWith('assets/') || isBrandFile(href)) event.respondWith(respondWithAsset(request));
  else if (files.has(href)) event.respondWith(fetch(request).catch(() => findOrFail(request)));
});

/** Stores the page and all its files. Fails if the service serves another build. The browser retries later. */
async function install(): Promise<void> {
  const cache = await caches.open(cacheName);
  const page = await fetch(scope, { cache: 'no-cache', credentials: 'same-origin' });
  if (!(await storePage(page, cache))) throw new Error('The service serves another build of the page');
  await cache.addAll([...files]);
}

/** Stores the page if it belongs to this build, with the branding files that it names. */
async function storePage(page: Response, cache: Cache): Promise<boolean> {
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
async function respondWithPage(event: FetchEvent): Promise<Response> {
  const response = fetch(event.request);
  const stored = await find(scope);
  if (stored === undefined) return response;
  event.waitUntil(response.then((page) => updateStoredPage(page.clone())).catch(() => undefined));
  const afterMaxWait = new Promise<Response>((resolve) => setTimeout(resolve, maxWaitMs, stored));
  const page = await Promise.race([response.catch(() => stored), afterMaxWait]);
  return isGatewayError(page.status) ? stored : page;
}

async function updateStoredPage(page: Response): Promise<void> {
  await storePage(page, await caches.open(cacheName));
}

/** The content of an address never changes: returns the stored file, or loads and stores it. */
async function respondWithAsset(request: Request): Promise<Response> {
  const stored = await find(request);
  if (stored !== undefined) return stored;
  const response = await fetch(request);
  if (response.ok) await (await caches.open(cacheName)).put(request, response.clone());
  return response;
}

async function findOrFail(request: Request): Promise<Response> {
  return (await find(request)) ?? Response.error();
}

/** Searches the cache of this build first. A plain search would start with the oldest cache. */
async function find(request: Request | string): Promise<Response | undefined> {
  const cache = await caches.open(cacheName);
  return (await cache.match(request, { ignoreVary: true })) ?? (await caches.match(request, { ignoreVary: true }));
}

function isBrandFile(href: string): boolean {
  return /\/brand\/[\w.]+\?[\w-]+$/.test(href) && href.startsWith(new URL('brand/', scope).href);
}

/** Keeps the previous build, because its tabs may not have loaded all files. */
async function removeOldCaches(): Promise<void> {
  const builds = (await caches.keys()).filter((name) => name.startsWith(shellCaches) && name !== cacheName);
  for (const name of builds.slice(0, -1)) await caches.delete(name);
}
