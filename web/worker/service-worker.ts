import { shellCacheLock, shellCachePrefix } from '../src/offline/shell-caches.ts';
import { isGatewayError } from '../src/service/service-error.ts';

/**
 * Stores the page as built, so that it opens without a network. API responses are not stored. Each build has its own cache. Files
 * of the previous build stay until the next build, because open tabs may need them.
 */
declare const self: ServiceWorkerGlobalScope;

/** Set by the build: its ID, its files relative to the page, and the entry script. */
declare const BUILD: { readonly id: string; readonly files: readonly string[]; readonly entry: string };

const cacheName = `${shellCachePrefix}${BUILD.id}`;
const { scope } = self.registration;
const files = new Set(BUILD.files.map((file) => new URL(file, scope).href));
/** Maximum time to wait for the network if a stored page exists. */
const maxWaitMs = 5_000;

self.addEventListener('install', (event) => {
  event.waitUntil(changeStored(install).then(() => self.skipWaiting()));
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
  const page = await fetch(scope, { cache: 'no-cache', credentials: 'same-origin' });
  const cache = await storePage(page);
  if (cache === undefined) throw new Error('The service serves another build of the page, or the page may not be stored');
  await cache.addAll([...files]);
}

/**
 * Stores the page with the branding files that it names, and returns the cache. Returns undefined if the page belongs to another
 * build or may not be stored.
 */
async function storePage(page: Response): Promise<Cache | undefined> {
  if (!page.ok || page.redirected || page.headers.get('cache-control') === 'no-store') return undefined;
  const text = await page.clone().text();
  if (!text.includes(BUILD.entry)) return undefined;
  const cache = await caches.open(cacheName);
  // Pattern bound: the start page of this build.
  const brand = text.match(/\.\/brand\/[\w.]+\?[\w-]+/g) ?? [];
  await cache.addAll(brand.map((address) => new URL(address, scope).href));
  await cache.put(scope, page);
  return cache;
}

/** Returns the page of the service, or the stored page if the service is unavailable. */
async function respondWithPage(event: FetchEvent): Promise<Response> {
  const response = fetch(event.request);
  event.waitUntil(response.then((page) => updateStoredPage(page.clone())).catch(() => undefined));
  const stored = await find(scope);
  if (stored === undefined) return response;
  const afterMaxWait = new Promise<Response>((resolve) => setTimeout(resolve, maxWaitMs, stored));
  const page = await Promise.race([response.catch(() => stored), afterMaxWait]);
  return isGatewayError(page.status) ? stored : page;
}

/** Stores the page, and all files if they were removed, because a worker outlives the removal of its files. */
function updateStoredPage(page: Response): Promise<void> {
  return changeStored(async () => {
    const hasFiles = await caches.has(cacheName);
    const cache = await storePage(page);
    if (!hasFiles) await cache?.addAll([...files]);
  });
}

/** Runs a change of the stored files. The page removes them while no change runs. */
async function changeStored(change: () => Promise<void>): Promise<void> {
  await navigator.locks.request(shellCacheLock, { mode: 'shared' }, change);
}

/** The content of an address never changes: returns the stored file, or loads and stores it. */
async function respondWithAsset(request: Request): Promise<Response> {
  const stored = await find(request);
  if (stored !== undefined) return stored;
  const response = await fetch(request);
  if (!response.ok) return response;
  const copy = response.clone();
  await changeStored(async () => {
    if (await caches.has(cacheName)) await (await caches.open(cacheName)).put(request, copy);
  });
  return response;
}

async function findOrFail(request: Request): Promise<Response> {
  return (await find(request)) ?? Response.error();
}

/** Searches the cache of this build first. A plain search would start with the oldest cache. */
async function find(request: Request | string): Promise<Response | undefined> {
  const ignoreVary = true;
  return (await caches.match(request, { cacheName, ignoreVary })) ?? (await caches.match(request, { ignoreVary }));
}

function isBrandFile(href: string): boolean {
  return /\/brand\/[\w.]+\?[\w-]+$/.test(href) && href.startsWith(new URL('brand/', scope).href);
}

/** Keeps the previous build, because its tabs may not have loaded all files. */
async function removeOldCaches(): Promise<void> {
  const builds = (await caches.keys()).filter((name) => name.startsWith(shellCachePrefix) && name !== cacheName);
  for (const name of builds.slice(0, -1)) await caches.delete(name);
}
