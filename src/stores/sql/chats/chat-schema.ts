/** Tables of chats, a part of the schema. */
export interface ChatSchema {
  readonly chat_owners: ChatOwnerRow;
  readonly chats: ChatRow;
  readonly chat_turns: ChatTurnRow;
  readonly chat_shares: ChatShareRow;
}

export interface ChatOwnerRow {
  readonly subject: string;
  /** Latest revision of all chats of the user. */
  readonly revision: number;
  /** Latest revision of the chats that were deleted without a remaining row. */
  readonly forgotten_revision: number;
  readonly bytes: number;
}

export interface ChatRow {
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
  /** State of the chat, see `chatStates`. */
  readonly shelf: number;
  readonly updated_at_ms: number;
  /** Size of the chat including its turns. */
  readonly bytes: number;
  /** JSON of the fields that lists show, sealed for the row. Empty if the chat is deleted. */
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
  /** Hash of the token in the link. The token itself is not stored. */
  readonly token_hash: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly bytes: number;
  /** JSON, sealed for the row. */
  readonly sealed_title: string;
  readonly sealed_content: string;
}
