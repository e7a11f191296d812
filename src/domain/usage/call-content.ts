import type { JsonObject } from '#base/json/json.ts';

/** Request and reply of a call, in the format of chat completions. */
export interface CallContent {
  readonly request: JsonObject;
  /** The complete reply, or the part of it before an error. Null if no reply started. */
  readonly reply: JsonObject | null;
  /** Whether values were truncated. Each of them contains a mark. */
  readonly isTruncated: boolean;
}

/** The content of a call in progress. */
export interface ContentSource {
  /** Returns the content up to now. Later calls return the same value. */
  toContent(): CallContent;
}

/** Content with the ID and the start of its usage record. */
export interface ContentRecord {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** JSON of `CallContent`. */
  readonly text: string;
}

export interface ContentUpkeepOptions {
  readonly nowMs: number;
  /** Number of past days whose content is kept. */
  readonly retentionDays: number;
  /** Ends the work between two steps. */
  readonly signal: AbortSignal;
}

/** Port for the content of calls, which is encrypted at rest. Throws `StoreError`. */
export interface CallContentStore {
  /** A record that is appended twice is stored once. */
  append(records: readonly ContentRecord[]): Promise<void>;
  /** Returns the content of the call with this ID and start, or undefined if no content is stored. */
  find(call: Pick<ContentRecord, 'id' | 'atMs'>): Promise<CallContent | undefined>;
  /** Removes days that are older than the retention. */
  maintain(options: ContentUpkeepOptions): Promise<void>;
}
