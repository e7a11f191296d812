/** A part of a document as a loader finds it; `page` is from 1, null if the format has none. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string; readonly page: number | null }
  | { readonly kind: 'text'; readonly text: string; readonly page: number | null }
  | TableBlock;

/** The header is repeated wherever the rows are cut. */
export interface TableBlock {
  readonly kind: 'table';
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly page: number | null;
}

/** What a loader gives. */
export interface LoadedBlocks {
  readonly title: string;
  readonly blocks: readonly Block[];
  /** What was left out, in a sentence for the user. */
  readonly note?: string | undefined;
}

/** Bounds that loaders keep; what is beyond them is left out, or refused. */
export interface LoadBounds {
  readonly maxPages: number;
  /** Bytes that archives may come to, all their parts together. */
  readonly maxUnpackedBytes: number;
}
