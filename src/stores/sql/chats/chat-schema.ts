/** Tables of chats, a part of the schema. */
export interface ChatSchema {
  readonly chat_owners: ChatOwnerRow;
  readonly chats: ChatRow;
  readonly chat_turns: ChatTurnRow;
  readonly chat_shares: ChatShareRow;
}

export interface ChatOwnerRow {
  readonly subject: string;
  /** The latest of all that the user has. */
  readonly revision: number;
  /** The latest of what was deleted without a row that says so. */
  readonly forgotten_revision: number;
  readonly bytes: number;
}

export interface ChatRow {
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
  /** Where it is listed (`shelves`). */
  readonly shelf: number;
  readonly updated_at_ms: number;
  /** What it takes, with its turns. */
  readonly bytes: number;
  /** JSON of what lists show, sealed for the row; empty if it was deleted. */
  readonly sealed_head: string;
  /** JSON of the other fields, sealed for the row. */
  readonly sealed_rest: string;
}

export interface ChatTurnRow {
  readonly subject: string;
  readonly chat: string;
  readonly id: string;
  readonly revision: number;
  readonly bytes: number;
  /** JSON, sealed for the row. */
  readonly sealed_turn: string;
}

export interface ChatShareRow {
  readonly subject: string;
  readonly id: string;
  readonly chat: string;
  /** Of the token of its link, which is nowhere. */
  readonly token_hash: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly bytes: number;
  /** JSON, sealed for the row. */
  readonly sealed_title: string;
  readonly sealed_content: string;
}
