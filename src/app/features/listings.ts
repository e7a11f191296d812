import { callerOperations } from '#surfaces/listings/caller-openapi.ts';
import { callerRoutes } from '#surfaces/listings/caller-routes.ts';
import { addonOperations, listingOperations, schemaOperations } from '#surfaces/listings/openapi.ts';
import { addonRoutes, listingRoutes, schemaRoutes } from '#surfaces/listings/routes.ts';
import { type Feature, listChatCompletionPrefixes } from '../service/feature.ts';

/** Lists of deployments and addons, and the routes about the caller. */
export const listings: Feature = {
  operations(aliases) {
    const prefixes = listChatCompletionPrefixes(aliases);
    return [...listingOperations(prefixes), ...addonOperations(prefixes), ...callerOperations, ...schemaOperations];
  },
  add({ app, aliases, documents, userKeys, shares, storedResources, ...core }) {
    const prefixes = listChatCompletionPrefixes(aliases);
    const modelPaths = ['/v1/models', ...aliases.compat.map((alias) => `/${alias}/v1/models`)];
    listingRoutes(app, { ...core, prefixes, modelPaths });
    addonRoutes(app, { ...core, prefixes });
    callerRoutes(app, {
      ...core,
      sharesChats: shares !== undefined,
      storesFiles: storedResources !== undefined,
      runsChats: core.responses !== undefined,
      findSelfService: (caller) => userKeys?.findSelfService(caller),
      documents: (deployment) => documents.progress(deployment),
    });
    schemaRoutes(app, core);
  },
};
