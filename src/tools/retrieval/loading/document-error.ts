/** Why a document cannot be read; the message is a sentence for the user. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  /** Whether the next attempt may end otherwise. */
  readonly isTransient: boolean;

  constructor(message: string, { cause, isTransient = false }: { cause?: unknown; isTransient?: boolean } = {}) {
    super(message, { cause });
    this.isTransient = isTransient;
  }
}
