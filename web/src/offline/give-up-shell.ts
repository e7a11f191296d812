import { forgetAllDrafts } from '../chat/drafts.ts';
import { forgetKnownUser } from './known-user.ts';
import { shellCaches } from './shell-caches.ts';

/** Has the browser keep nothing of the page any more, and of whoever was here. */
export async function giveUpShell(): Promise<void> {
  forgetKnownUser();
  forgetAllDrafts();
  const kept = await navigator.serviceWorker?.getRegistration();
  await kept?.unregister();
  const names = (await globalThis.caches?.keys()) ?? [];
  for (const name of names) if (name.startsWith(shellCaches)) await caches.delete(name);
}
