import { useEffect, useRef } from 'react';
import { deleteAllDrafts } from '../chat/composer/drafts.ts';
import { readBrand } from '../shell/brand.ts';
import { deleteKnownUser } from './known-user.ts';
import { shellCacheLock, shellCachePrefix } from './shell-caches.ts';

/** Delay after the sign-in, so that more urgent work comes first. */
const installAfterMs = 3_000;

/** Stores the page in the browser after the sign-in. Removes it for all users if the operator forbids storage. */
export function useOfflineShell(isSignedIn: boolean): void {
  const isRequested = useRef(false);
  useEffect(() => {
    if (!import.meta.env.PROD) return;
    // A browser that rejects the change still shows the page.
    if (readBrand().offline === false) return void removeShell().catch(() => undefined);
    // Runs once per page load. A Trusted Types policy cannot be created twice.
    if (!isSignedIn || isRequested.current) return;
    const timer = setTimeout(() => {
      isRequested.current = true;
      void installShell().catch(() => undefined);
    }, installAfterMs);
    return () => clearTimeout(timer);
  }, [isSignedIn]);
}

const workerUrl = './service-worker.js';

interface ScriptPolicies {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(url: string): string };
}

/** Registers the service worker, so that the page opens without a network. */
async function installShell(): Promise<void> {
  const { serviceWorker: workers } = navigator;
  if (workers === undefined || isSavingData()) return;
  const { trustedTypes } = globalThis as { trustedTypes?: ScriptPolicies };
  // The content security policy of the page allows only this policy, which allows only this script.
  const policy = trustedTypes?.createPolicy('parley-worker', { createScriptURL: () => workerUrl });
  await workers.register(policy?.createScriptURL(workerUrl) ?? workerUrl, { updateViaCache: 'none' });
}

/** Removes the stored page and the data of its users. */
async function removeShell(): Promise<void> {
  deleteKnownUser();
  deleteAllDrafts();
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.unregister();
  // A worker that is storing files would create its cache again.
  await navigator.locks?.request(shellCacheLock, async () => {
    for (const name of await caches.keys()) if (name.startsWith(shellCachePrefix)) await caches.delete(name);
  });
}

/** Whether the user asks the browser to save data. */
export function isSavingData(): boolean {
  const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}
