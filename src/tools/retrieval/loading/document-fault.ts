/** Why a document cannot be read; the message is a sentence for the user. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
  /** Whether the next attempt may end otherwise. */
  readonly isPassing: boolean;

  constructor(message: string, { cause, isPassing = false }: { cause?: unknown; isPassing?: boolean } = {}) {
    super(message, { cause });
    this.isPassing = isPassing;
  }
}
