/** A part of a document. `page` starts at 1, and is null if the format has no pages. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string; readonly page: number | null }
  | { readonly kind: 'text'; readonly text: string; readonly page: number | null }
  | TableBlock;

/** A table. The header is repeated if the rows are split. */
export interface TableBlock {
  readonly kind: 'table';
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly page: number | null;
}

/** Result of a loader. */
export interface LoadedBlocks {
  readonly title: string;
  readonly blocks: readonly Block[];
  /** A sentence for the user about omitted content. */
  readonly note?: string | undefined;
}

/** Bounds for loaders. Content beyond them is omitted or rejected. */
export interface LoadBounds {
  readonly maxPages: number;
  /** Maximum total size of an archive's unpacked parts. */
  readonly maxUnpackedBytes: number;
}

/** Error for a document that cannot be read. The message is a sentence for the user. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;

  constructor(message: string, { cause, isTransient = false }: { cause?: unknown; isTransient?: boolean } = {}) {
    super(message, { cause });
    this.isTransient = isTransient;
  }
}
