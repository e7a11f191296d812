import type { Clock } from '#base/clock.ts';
import type { ApplicationStore } from '#domain/application-store.ts';
import type { Catalog } from '#domain/catalog.ts';
import type { Directory } from '#domain/directory.ts';
import type { Identify } from '#domain/identify.ts';
import type { NoteAudit } from '#domain/journal.ts';

/** What the routes of applications work with. */
export interface ApplicationTools {
  readonly directory: () => Directory;
  readonly identify: Identify;
  readonly store: ApplicationStore;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Makes ETags. */
  readonly newId: () => string;
  readonly noteAudit: NoteAudit;
}
