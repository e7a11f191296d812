import { createSignInOptions } from '#identity/sign-in-options.ts';
import { signInOperations } from '#surfaces/ui/openapi.ts';
import { uiRoutes } from '#surfaces/ui/routes.ts';
import type { Feature } from '../service/feature.ts';

/** The web page, and the identity providers that it offers. */
export const page: Feature = {
  operations: () => signInOperations,
  add({ app, snapshot, entries: entryDeps, ...core }) {
    uiRoutes(app, {
      listSignInOptions: createSignInOptions({ ...core, snapshot }),
      isFirstStart: () => entryDeps?.firstStart.isWaiting(entryDeps.entries.configuration) === true,
      settings: () => snapshot().configuration.page,
    });
  },
};
