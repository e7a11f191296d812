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
  /** 0 or 1. */
  readonly is_background: number;
  /** The node that answers it, empty while any may; null once it has ended. */
  readonly owner: string | null;
  readonly previous_id: string | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  /** What it takes, with its events. */
  readonly bytes: number;
  /** JSON array. */
  readonly item_ids: string;
  /** JSON of the response, its input and its state, sealed for the row's id. */
  readonly sealed_content: string;
  /** JSON, sealed for the row's id; null unless another node may have to answer. */
  readonly sealed_run: string | null;
}

/** Which response has an item; triggers keep it. */
interface ResponseItemRow {
  readonly id: string;
  readonly response: string;
}

/** Events of a run in a row; they go with its response. */
interface ResponseEventRow {
  readonly response: string;
  /** Numbers of the first and the last of them. */
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
  /** What its items take. */
  readonly bytes: number;
  /** What is being answered on it, and the node that does. */
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
  /** 1 for what goes on with the conversation and is listed to nobody. */
  readonly is_hidden: number;
}

/** What a user has stored; triggers keep it. */
interface StoredBytesRow {
  readonly subject: string;
  readonly used_bytes: number;
}
