/** A document cannot be read. The message is a sentence for the user. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;

  constructor(message: string, { cause, isTransient = false }: { cause?: unknown; isTransient?: boolean } = {}) {
    super(message, { cause });
    this.isTransient = isTransient;
  }
}
