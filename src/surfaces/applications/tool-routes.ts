import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OwnerQuota } from '#base/isolation/fair-queue.ts';
import { IsolationError } from '#base/isolation/isolated-process.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { readToolset } from '#contract/quick-app/quick-app-issues.ts';
import type { Caller } from '#domain/callers/caller.ts';
import {
  applicationPrefix,
  createApplicationNotFoundError,
  parseApplicationLocation,
} from '#domain/deployments/application-location.ts';
import type { ApplicationStore, StoredApplication } from '#domain/deployments/application-store.ts';
import type { McpToolsetSettings, QuickAppToolset } from '#domain/quick-app/quick-app.ts';
import { toQuickApp } from '#domain/quick-app/to-quick-app.ts';
import { ToolError, type ToolTestResult, type ToolTestRun } from '#domain/tools/tool.ts';
import { createDisconnectSignal, identifyUser, readRequest, type SurfaceDeps } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';
import { type ApplicationDeps, findApplication, requireOwner } from './application-access.ts';
import { rejectIssues } from './read-application.ts';
import { parseImportRequest, parseToolRunRequest, parseToolsetRequest, type ToolsetRequest } from './tool-requests.ts';

export interface ToolRoutesDeps extends Pick<ApplicationDeps, 'identify' | 'snapshot' | 'survey'> {
  readonly store: Pick<ApplicationStore, 'find'>;
  /**
   * Runs a tool once. Resolves with undefined if the toolset has no tool with that name. Rejects with ToolError, or with the
   * signal's reason.
   */
  readonly tryTool: (trial: ToolTestRun) => Promise<ToolTestResult | undefined>;
}

/** Maximum size in bytes of a request body, which contains one toolset. `security.maxBodyBytes` applies if it is smaller. */
const maxToolsetBytes = 512 * 1024;
/** Maximum number of concurrent requests per user. An editor may list the tools of that many toolsets at the same time. */
const maxConcurrentRequests = 8;

/** Registers `/v1/tools/…`, which lists and runs the tools of a saved or unsaved toolset (docs/wire.md, Applications). */
export function toolRoutes(app: FastifyInstance, deps: ToolRoutesDeps): void {
  const slots = new OwnerQuota(maxConcurrentRequests, createNoSlotError);
  serveEarly(app, { method: 'POST', url: '/v1/tools/list' }, async (request, reply) => {
    const { caller, toolset } = await readTrial(deps, request, parseToolsetRequest);
    if (toolset.kind !== 'mcp')
      throw createRequestError('toolset.type', 'must be "mcp". Toolsets of other types define their tools in their settings');
    return slots.run(caller.subject, () => list(deps, toolset, reply));
  });
  serveEarly(app, { method: 'POST', url: '/v1/tools/run' }, async (request, reply) => {
    const { caller, toolset, trialRequest } = await readTrial(deps, request, parseToolRunRequest);
    const { tool, arguments: args = {} } = trialRequest;
    const { subject } = caller;
    return slots.run(subject, () => run(deps, { toolset, tool, args, subject, signal: createDisconnectSignal(reply.raw) }));
  });
}

interface Trial<RequestBody extends ToolsetRequest> {
  readonly caller: Caller;
  readonly trialRequest: RequestBody;
  readonly toolset: QuickAppToolset;
}

/**
 * Returns the caller and the toolset. Users who may save applications may try toolsets. Checks, in this order: size, credentials,
 * media type, body.
 */
async function readTrial<RequestBody extends ToolsetRequest>(
  { snapshot, store, ...deps }: ToolRoutesDeps,
  request: FastifyRequest,
  parse: (body: unknown) => RequestBody,
): Promise<Trial<RequestBody>> {
  const maxBytes = Math.min(maxToolsetBytes, snapshot().configuration.security.maxBodyBytes);
  const { caller, body } = await readRequest(request, { maxBytes }, () => identifyUser(deps, request, 'try tools'));
  const trialRequest = parse(body());
  return { caller, trialRequest, toolset: await readToolsetRequest(trialRequest, { store, caller }) };
}

/** Returns the tools of a server. A ToolError becomes `failure` in the response, not an error of the request. */
async function list({ survey }: ToolRoutesDeps, settings: McpToolsetSettings, { raw }: FastifyReply): Promise<object> {
  try {
    const { tools, count, omitted: leftOut } = await survey(settings, createDisconnectSignal(raw));
    return { tools: tools.map(({ isReadOnly, ...tool }) => ({ ...tool, readOnly: isReadOnly })), count, leftOut, failure: null };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { tools: [], count: 0, leftOut: [], failure: { reason: error.reason, message: error.message } };
  }
}

/** Returns the outcome of one run. A ToolError becomes `failure` in the response, not an error of the request. */
async function run({ tryTool }: ToolRoutesDeps, trial: ToolTestRun): Promise<object> {
  try {
    const result = await tryTool(trial);
    if (result === undefined) throw createRequestError('tool', 'does not name a tool of the toolset');
    return { ...result, failure: null };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { reason, message } = error;
    return { outcome: 'failed', text: message, attachments: [], durationMs: 0, failure: { reason, message } };
  }
}

function createNoSlotError(): ParleyError {
  return new ParleyError(
    'overloaded',
    `Parley cannot contact another tool server for you now: ${maxConcurrentRequests} operations are already in progress.`,
    { retryAfterSeconds: 5 },
  );
}

interface ToolsetLookup {
  readonly store: Pick<ApplicationStore, 'find'>;
  readonly caller: Caller;
}

/**
 * Returns the toolset of a request, with its secrets. Throws `invalid_request` for the toolset, and `access_denied` or
 * `deployment_not_found` for the application that it names.
 */
async function readToolsetRequest(
  { toolset, application }: ToolsetRequest,
  { store, caller }: ToolsetLookup,
): Promise<QuickAppToolset> {
  const stored = application === undefined ? undefined : await findOwn(application, { store, caller });
  const { form, errors } = readToolset(toolset, stored?.entry.applicationProperties);
  rejectIssues(errors.map((issue) => ({ ...issue, path: ['toolset', ...issue.path] })));
  const [convertedToolset] = toQuickApp(form).toolsets;
  if (convertedToolset === undefined) throw createApplicationNotFoundError();
  return convertedToolset;
}

async function findOwn(id: string, { store, caller }: ToolsetLookup): Promise<StoredApplication> {
  const location = id.startsWith(applicationPrefix) ? parseApplicationLocation(id.slice(applicationPrefix.length)) : undefined;
  if (location === undefined) throw createApplicationNotFoundError();
  requireOwner(caller, location);
  return findApplication({ store }, location);
}

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
  readonly importDocument: (request: ImportRequest) => Promise<ImportResult>;
}

/** Maximum size of a document in bytes. If `security.maxBodyBytes` is less, that bound applies. */
const maxDocumentBytes = 2 * 1024 ** 2;
/** Base URL of a document in the body, which has no URL itself. A relative server URL gets this protocol and is rejected. */
const noUrl = 'none:/';

/** Serves `POST /v1/import-openapi`, which converts an OpenAPI document into toolsets of a quick app. It saves nothing. */
export function importRoutes(app: FastifyInstance, { snapshot, identify, importDocument }: ImportDeps): void {
  serveEarly(app, { method: 'POST', url: '/v1/import-openapi' }, async (request) => {
    const maxBytes = Math.min(maxDocumentBytes, snapshot().configuration.security.maxBodyBytes);
    const options = { maxBytes, allowsProto: true };
    const { caller, body } = await readRequest(request, options, () => identifyUser({ identify }, request, 'import documents'));
    const { url = noUrl, document, include, exclude } = parseImportRequest(body());
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
