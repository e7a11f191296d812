import { randomUUID } from 'node:crypto';
import { accessRoutes } from '#surfaces/applications/access-routes.ts';
import { applicationOperations } from '#surfaces/applications/openapi.ts';
import { readDraft } from '#surfaces/applications/read-application.ts';
import { applicationRoutes } from '#surfaces/applications/routes.ts';
import { toolOperations } from '#surfaces/applications/tool-openapi.ts';
import { type ImportDeps, importRoutes, toolRoutes } from '#surfaces/applications/tool-routes.ts';
import { draftRoutes } from '#surfaces/chat-completions/draft-routes.ts';
import { draftOperations } from '#surfaces/chat-completions/openapi.ts';
import { importOpenApi } from '#tools/openapi/load-openapi.ts';
import type { Core, Feature } from '../service/feature.ts';

/** Maximum time to load a document that is imported. */
const maxDocumentLoadMs = 30_000;

/** Applications that users save, with tests of their tools and the import of OpenAPI documents. */
export const applications: Feature = {
  operations: () => [...applicationOperations, ...toolOperations, ...draftOperations],
  add(core) {
    const { app, savedApplications: store, files } = core;
    importRoutes(app, { ...core, importDocument: createImportDocument(core) });
    toolRoutes(app, { ...core, store });
    applicationRoutes(app, { ...core, store, files: files?.index, newId: randomUUID });
    accessRoutes(app, { ...core, store, newId: randomUUID });
    const { handler, calls } = core;
    draftRoutes(app, { handler, calls, readDraft: (draft) => readDraft({ ...core, store, files: files?.index }, draft) });
  },
};

function createImportDocument({ guardedHttp, openApi, snapshot }: Core): ImportDeps['importDocument'] {
  return ({ text, url, owner, include, exclude, maxBytes }) => {
    const { connectMs, timeoutMs } = snapshot().configuration.tools;
    const bounds = { connectMs, timeoutMs: Math.min(timeoutMs, maxDocumentLoadMs), maxBytes };
    return importOpenApi({ text, url }, { include, exclude }, { http: guardedHttp, reader: openApi, owner, ...bounds });
  };
}
