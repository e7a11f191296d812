import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { EvaluationStore } from '#domain/evaluation/evaluation.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { ToolsetSurvey } from '#domain/tools/tool.ts';
import type { EvaluationRuns } from '#services/evaluation/evaluation-runs.ts';
import type { People } from '#services/scim/people.ts';
import type { SurfaceDeps } from '../http/read-request.ts';

/** Dependencies of the application routes. */
export interface ApplicationDeps extends SurfaceDeps {
  readonly store: ApplicationStore;
  readonly catalog: Catalog;
  /** Users that applications can be shared with. Undefined if the service does not store who has signed in. */
  readonly people: People | undefined;
  /** Index of files, which include the documents of applications. Undefined if no files are stored. */
  readonly files: Pick<FileIndex, 'findAll'> | undefined;
  /** Returns the current tools of an MCP server. Rejects with ToolError, or with the signal's reason. */
  readonly survey: (settings: McpToolsetSettings, signal: AbortSignal) => Promise<ToolsetSurvey>;
  /** Returns a new ETag. */
  readonly newId: () => string;
}

/** Dependencies of the routes for cases and evaluations. */
export interface EvaluationDeps extends Pick<ApplicationDeps, 'snapshot' | 'identify' | 'store' | 'clock' | 'recordAudit'> {
  readonly evaluations: EvaluationRuns;
  readonly results: EvaluationStore;
  /** Returns a new case ID. */
  readonly newId: () => string;
}
