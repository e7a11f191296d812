import type { Clock } from '#base/time/clock.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { EvaluationStore } from '#domain/evaluation/evaluation-store.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { ToolsetSurvey } from '#domain/tools/tool.ts';
import type { NoteAudit } from '#domain/usage/journal.ts';
import type { EvaluationRuns } from '#services/evaluation/evaluation-runs.ts';

/** What the routes of applications work with. */
export interface ApplicationDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly identify: Identify;
  readonly store: ApplicationStore;
  readonly catalog: Catalog;
  /** Where documents of applications are; undefined: no files are stored here. */
  readonly files: Pick<FileIndex, 'findAll'> | undefined;
  /** Returns the present tools of an MCP server. Rejects with ToolFault, or with the signal's reason. */
  readonly survey: (settings: McpToolsetSettings, signal: AbortSignal) => Promise<ToolsetSurvey>;
  readonly clock: Clock;
  /** Makes ETags. */
  readonly newId: () => string;
  readonly noteAudit: NoteAudit;
}

/** What the routes of cases and evaluations work with. */
export interface EvaluationDeps extends Pick<ApplicationDeps, 'snapshot' | 'identify' | 'store' | 'clock' | 'noteAudit'> {
  readonly evaluations: EvaluationRuns;
  readonly results: EvaluationStore;
  /** Makes ids of cases. */
  readonly newId: () => string;
}
