import { chatCompletionOperations } from '#surfaces/chat-completions/openapi.ts';
import { chatCompletionRoutes } from '#surfaces/chat-completions/routes.ts';
import { routeNotFound } from '#surfaces/http/path-methods.ts';
import { passThroughOperation } from '#surfaces/passthrough/openapi.ts';
import { createPassThrough } from '#surfaces/passthrough/serve-pass-through.ts';
import { buildDeploymentResponseOperation } from '#surfaces/responses/openapi.ts';
import { type Feature, listChatCompletionPrefixes } from '../service/feature.ts';

/** Chat completions, embeddings, and the APIs that are passed through. */
export const chatCompletions: Feature = {
  operations: (aliases) =>
    chatCompletionOperations(listChatCompletionPrefixes(aliases), passThroughOperation, buildDeploymentResponseOperation),
  add({ app, handler, calls, snapshot, aliases, deploymentApis }) {
    chatCompletionRoutes(app, {
      handler,
      calls,
      passThrough: createPassThrough({ handler, calls, maxFormBytes: () => snapshot().configuration.files.maxFileBytes }),
      serveResponses(input, deployment) {
        if (deploymentApis.responses === undefined) throw routeNotFound();
        return deploymentApis.responses(input, deployment);
      },
      aliases: aliases.compat,
    });
  },
};
