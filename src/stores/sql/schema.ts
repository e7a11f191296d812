import type { Generated } from 'kysely';
import type { AdministrationSchema } from './administration/administration-tables.ts';
import type { CallerSchema } from './callers/caller-tables.ts';
import type { ChatSchema } from './chats/chat-tables.ts';
import type { EvaluationSchema } from './evaluations/evaluation-tables.ts';
import type { RecordSchema } from './journal/record-tables.ts';
import type { LimitSchema } from './limits/limit-tables.ts';
import type { PassageSchema } from './passages/passage-tables.ts';
import type { ResponseSchema } from './responses/response-tables.ts';
import type { ScimSchema } from './scim/scim-tables.ts';

/** The tables, which are the same in every engine. `migrations` creates them. Times are milliseconds since the epoch, by the clock of the node that wrote them unless noted. */
export interface Schema
  extends AdministrationSchema,
    CallerSchema,
    ChatSchema,
    EvaluationSchema,
    LimitSchema,
    PassageSchema,
    ResponseSchema,
    ScimSchema,
    RecordSchema {
  readonly consents: ConsentRow;
  readonly applications: ApplicationRow;
  readonly application_versions: ApplicationVersionRow;
  readonly application_roles: ApplicationRoleRow;
  readonly application_users: ApplicationUserRow;
  readonly files: FileRow;
  readonly buckets: BucketRow;
  readonly file_reservations: ReservationRow;
  readonly database_name: NameRow;
  readonly usage_records: UsageRow;
  readonly audit_records: AuditRow;
  readonly parley_migrations: MigrationRow;
}

export interface ConsentRow {
  readonly subject: string;
  readonly deployment: string;
  /** JSON. */
  readonly form: string;
  readonly accepted_at_ms: number;
}

export interface ApplicationRow {
  readonly id: string;
  readonly owner: string;
  /** JSON, sealed for the row's id. */
  readonly sealed_entry: string;
  readonly etag: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  /** Starts at 1 and is incremented with each change. */
  readonly version: Generated<number>;
  /** The ETag of the entry whose roles are in `application_roles`, or null if they were never recorded. */
  readonly roles_etag: string | null;
  /** The ID as its creator spelled it, or null if that equals `id`. */
  readonly spelling: string | null;
}

/** A former version, which is deleted with its application. */
interface ApplicationVersionRow {
  readonly application: string;
  readonly version: number;
  /** JSON, sealed for the application's id. */
  readonly sealed_entry: string;
  readonly etag: string;
  readonly saved_at_ms: number;
}

/** A role that an application names, which is deleted with its application. */
interface ApplicationRoleRow {
  readonly role: string;
  readonly application: string;
}

/** A user that an application lists. The row is deleted with the application. */
interface ApplicationUserRow {
  readonly user_id: string;
  readonly application: string;
}

interface FileRow {
  readonly bucket: string;
  readonly path: string;
  readonly content_type: string;
  readonly content_length: number;
  readonly etag: string;
  readonly blob: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

/** The lock of this row serializes writes to the bucket. */
interface BucketRow {
  readonly bucket: string;
  readonly used_bytes: number;
}

/** Reserved space in a bucket for an upload in progress. */
export interface ReservationRow {
  readonly blob: string;
  readonly bucket: string;
  readonly path: string;
  readonly reserved_bytes: number;
  /** Bytes that are freed when the upload replaces an existing file. */
  readonly replaced_bytes: number;
  readonly until_ms: number;
}

interface NameRow {
  readonly name: string;
  /** Name of the location of the file contents, which is also stored in that location. Null if there is no location yet. */
  readonly contents_place: string | null;
}

export interface UsageRow {
  readonly id: string;
  readonly request_id: string;
  readonly at_ms: number;
  readonly subject: string;
  readonly project: string;
  readonly deployment: string;
  /** JSON array. */
  readonly path: string;
  readonly operation: string;
  readonly outcome: string;
  readonly status: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Billionths of a USD. */
  readonly cost: number;
  readonly duration_ms: number;
  /** ID of the user's key. Null for calls with a token or a configured key. */
  readonly key_id: string | null;
  /** Null if not reported. */
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly cache_write_1h_tokens: number | null;
  readonly service_tier: string | null;
  /** Null if the client sent no session. */
  readonly session: string | null;
  /** JSON object of texts. Null for calls without tags. */
  readonly tags: string | null;
}

export interface AuditRow {
  readonly id: string;
  readonly at_ms: number;
  readonly action: string;
  readonly subject: string | null;
  readonly object: string | null;
  readonly request_id: string | null;
  /** JSON object. */
  readonly details: string;
}

interface MigrationRow {
  readonly version: number;
}
