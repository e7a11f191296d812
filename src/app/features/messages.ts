import { messagesOperations } from '#surfaces/messages/openapi.ts';
import { messagesRoutes } from '#surfaces/messages/routes.ts';
import type { Feature } from '../service/feature.ts';

/** The Anthropic messages API. */
export const messages: Feature = {
  operations: (aliases) => messagesOperations(aliases.msgapi),
  add({ app, aliases, ...core }) {
    messagesRoutes(app, { ...core, aliases: aliases.msgapi });
  },
};
