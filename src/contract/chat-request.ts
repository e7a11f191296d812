/** Placeholder until the schema stands. */
export interface ChatRequest {
  messages: { role: string; content?: unknown; [key: string]: unknown }[];
  stream?: boolean;
  n?: number;
  [key: string]: unknown;
}
