import { useEffect, useRef } from 'react';
import { deleteAllDrafts } from '../chat/composer/drafts.ts';
import { readBrand } from '../page/brand.ts';
import { isSparing } from './is-sparing.ts';
import { deleteKnownUser } from './known-user.ts';
import { shellCaches } from './shell-caches.ts';

/** So long after somebody came in, and nobody waits for it. */
const installAfterMs = 3_000;

/** Keeps the page in the browser of one who signed in; gives up what is kept, whoever comes, where the operator says so. */
export function useOfflineShell(isSignedIn: boolean): void {
  const isRequested = useRef(false);
  useEffect(() => {
    if (!import.meta.env.PROD) return;
    // A browser that does not let it be kept has the page all the same.
    if (readBrand().offline === false) return void removeShell().catch(() => undefined);
    // Once for each load of the page: who signs in again has it, and its policy cannot be made twice.
    if (!isSignedIn || isRequested.current) return;
    const timer = setTimeout(() => {
      isRequested.current = true;
      void installShell().catch(() => undefined);
    }, installAfterMs);
    return () => clearTimeout(timer);
  }, [isSignedIn]);
}

const address = './service-worker.js';

interface ScriptPolicies {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(address: string): string };
}

/** Has the browser keep the page, so that it opens without a network. */
async function installShell(): Promise<void> {
  const { serviceWorker: workers } = navigator;
  if (workers === undefined || isSparing()) return;
  const { trustedTypes } = globalThis as { trustedTypes?: ScriptPolicies };
  // The one script that a worker may be made of, whatever is asked for: see the policy of the page.
  const policy = trustedTypes?.createPolicy('parley-worker', { createScriptURL: () => address });
  await workers.register(policy?.createScriptURL(address) ?? address, { updateViaCache: 'none' });
}

/** Has the browser keep nothing of the page any more, and of whoever was here. */
async function removeShell(): Promise<void> {
  deleteKnownUser();
  deleteAllDrafts();
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.unregister();
  const names = (await globalThis.caches?.keys()) ?? [];
  for (const name of names) if (name.startsWith(shellCaches)) await caches.delete(name);
}
