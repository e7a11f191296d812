import { shellCaches } from '../src/offline/shell-caches.ts';
import { isGatewayError } from '../src/service/is-gateway-error.ts';

/**
 * Keeps the page as it was built, so that it opens without a network, and nothing else: answers of the API pass by it. Each build
 * has a cache of its own. What a tab of the build before may still ask for stays until the build after this one.
 */
declare const self: ServiceWorkerGlobalScope;

/** Put in by the build: which one it is, its files below the page, and the script that the page begins with. */
declare const BUILD: { readonly id: string; readonly files: readonly string[]; readonly entry: string };

const own = `${shellCaches}${BUILD.id}`;
const { scope } = self.registration;
const files = new Set(BUILD.files.map((file) => new URL(file, scope).href));
/** Longer than that the network is not waited for, if there is a page to show. */
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

/** Takes the page and all its files; fails, to be tried again later, where the service serves another build. */
async function install(): Promise<void> {
  const cache = await caches.open(own);
  const page = await fetch(scope, { cache: 'no-cache', credentials: 'same-origin' });
  if (!(await keepPage(page, cache))) throw new Error('the page is of another build');
  await cache.addAll([...files]);
}

/** Keeps the page if it is of this build, with what it names of the operator's. */
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

/** The page of the service; the one that is kept where it cannot be had. */
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

/** Under its address is always the same: what is kept is taken, what is not is kept from then on. */
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

/** Of this build if it has it: the oldest cache is looked through first otherwise. */
async function find(request: Request | string): Promise<Response | undefined> {
  const cache = await caches.open(own);
  return (await cache.match(request, { ignoreVary: true })) ?? (await caches.match(request, { ignoreVary: true }));
}

function isOfBrand(href: string): boolean {
  return /\/brand\/[\w.]+\?[\w-]+$/.test(href) && href.startsWith(new URL('brand/', scope).href);
}

/** Leaves the build before this one: its tabs may not have loaded all of it yet. */
async function removeOld(): Promise<void> {
  const builds = (await caches.keys()).filter((name) => name.startsWith(shellCaches) && name !== own);
  for (const name of builds.slice(0, -1)) await caches.delete(name);
}
