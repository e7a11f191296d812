/** Tables of responses and conversations, a part of the schema. */
export interface ResponseSchema {
  readonly responses: ResponseRow;
  readonly response_items: ResponseItemRow;
  readonly response_events: ResponseEventRow;
  readonly conversations: ConversationRow;
  readonly conversation_items: ConversationItemRow;
  readonly stored_bytes: StoredBytesRow;
}

export interface ResponseRow {
  readonly id: string;
  readonly subject: string;
  readonly status: string;
  /** 0 for a response, 1 for a background response, and 2 for a chat run. */
  readonly is_background: number;
  /** The node that answers it. Empty while any node may claim it. Null after the end. */
  readonly owner: string | null;
  readonly previous_id: string | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  /** Size of the response including its events. */
  readonly bytes: number;
  /** JSON array. */
  readonly item_ids: string;
  /** JSON of the response, its input, and its state, sealed for the row's id. */
  readonly sealed_content: string;
  /** JSON, sealed for the row's id. Null unless another node may have to answer. */
  readonly sealed_run: string | null;
}

/** Maps items to responses. Maintained by triggers. */
interface ResponseItemRow {
  readonly id: string;
  readonly response: string;
}

/** Consecutive events of a run. They are deleted with the response. */
interface ResponseEventRow {
  readonly response: string;
  /** Numbers of the first and the last event. */
  readonly first: number;
  readonly last: number;
  /** JSON array, sealed for the response and the first number. */
  readonly sealed_events: string;
}

export interface ConversationRow {
  readonly id: string;
  readonly subject: string;
  readonly created_at_ms: number;
  /** JSON, sealed for the row's id. */
  readonly sealed_metadata: string;
  /** Number of the next item. */
  readonly next_nth: number;
  /** Size of the items and the initial metadata. */
  readonly bytes: number;
  /** The run that holds the conversation, and its node. */
  readonly run: string | null;
  readonly run_owner: string | null;
}

export interface ConversationItemRow {
  readonly conversation: string;
  readonly nth: number;
  readonly id: string;
  /** JSON, sealed for the conversation and the number. */
  readonly sealed_item: string;
  readonly bytes: number;
  /** 1 for items that are part of the conversation but never listed. */
  readonly is_hidden: number;
}

/** Stored bytes of a user. Maintained by triggers. */
interface StoredBytesRow {
  readonly subject: string;
  readonly used_bytes: number;
}
