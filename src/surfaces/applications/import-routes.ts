import type { FastifyInstance } from 'fastify';
import { IsolationError } from '#base/isolation/isolated-process.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { parseImportRequest } from '#contract/tool-requests.ts';
import { ToolError } from '#domain/tools/tool.ts';
import { identifyUser, readRequest, type SurfaceDeps } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';

/** Request to import an OpenAPI document. */
interface ImportRequest {
  /** Text of the document. If undefined, the document is fetched from `url`. */
  readonly text: string | undefined;
  readonly url: URL;
  /** Subject of the user who imports the document. */
  readonly owner: string;
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
  /** Maximum size of a fetched document. */
  readonly maxBytes: number;
}

/** Toolsets of a quick app, and notes about parts that were left out. */
interface ImportResult {
  readonly toolsets: readonly object[];
  readonly notes: readonly string[];
}

export interface ImportDeps extends Pick<SurfaceDeps, 'identify' | 'snapshot'> {
  /**
   * Rejects with ToolError if the input is not an OpenAPI document or cannot be fetched. Rejects with IsolationError if too many
   * imports of the owner are already queued.
   */
  readonly importDocument: (importing: ImportRequest) => Promise<ImportResult>;
}

/** Maximum size of a document in bytes. If `security.maxBodyBytes` is less, that bound applies. */
const maxDocumentBytes = 2 * 1024 ** 2;
const nowhere = 'none:/';

/** Serves `POST /v1/import-openapi`, which converts an OpenAPI document into toolsets of a quick app. It saves nothing. */
export function importRoutes(app: FastifyInstance, { snapshot, identify, importDocument }: ImportDeps): void {
  serveEarly(app, { method: 'POST', url: '/v1/import-openapi' }, async (request) => {
    const maxBytes = Math.min(maxDocumentBytes, snapshot().configuration.security.maxBodyBytes);
    const options = { maxBytes, allowsProto: true };
    const { caller, body } = await readRequest(request, options, () => identifyUser({ identify }, request, 'import documents'));
    const { url = nowhere, document, include, exclude } = parseImportRequest(body());
    const text = typeof document === 'object' ? JSON.stringify(document) : document;
    try {
      return await importDocument({ text, url: new URL(url), owner: caller.subject, include, exclude, maxBytes });
    } catch (cause) {
      if (cause instanceof IsolationError)
        throw new ParleyError('overloaded', `The document cannot be imported: ${cause.message}.`, {
          retryAfterSeconds: 5,
          cause,
        });
      if (!(cause instanceof ToolError)) throw cause;
      const param = text === undefined ? 'url' : 'document';
      throw new ParleyError('invalid_request', `The document cannot be imported: ${cause.message}.`, { param, cause });
    }
  });
}
