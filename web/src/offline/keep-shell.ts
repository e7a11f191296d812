import { isSparing } from './is-sparing.ts';

const address = './service-worker.js';

interface ScriptPolicies {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(address: string): string };
}

/** Has the browser keep the page, so that it opens without a network. */
export async function keepShell(): Promise<void> {
  const { serviceWorker: workers } = navigator;
  if (workers === undefined || isSparing()) return;
  const { trustedTypes } = globalThis as { trustedTypes?: ScriptPolicies };
  // The one script that a worker may be made of, whatever is asked for: see the policy of the page.
  const policy = trustedTypes?.createPolicy('parley-worker', { createScriptURL: () => address });
  await workers.register(policy?.createScriptURL(address) ?? address, { updateViaCache: 'none' });
}
