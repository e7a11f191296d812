import { randomUUID } from 'node:crypto';
import { createRandomSecret } from '#base/secrets/seal.ts';
import { chatOperations } from '#surfaces/chats/openapi.ts';
import { chatRoutes } from '#surfaces/chats/routes.ts';
import { shareRoutes } from '#surfaces/chats/share-routes.ts';
import type { Feature } from '../service/feature.ts';

/** Conversations of the page, and shared copies of them. */
export const chats: Feature = {
  operations: () => chatOperations,
  add({ app, chats: store, shares, storedResources, ...core }) {
    if (store === undefined) return;
    const deps = { ...core, chats: store, files: storedResources };
    chatRoutes(app, deps);
    if (shares !== undefined) shareRoutes(app, { ...deps, shares, newId: randomUUID, newToken: createRandomSecret });
  },
};
