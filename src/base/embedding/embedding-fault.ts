export type EmbeddingFaultKind =
  /** Too many texts wait. */
  | 'busy'
  /** The thread that runs the model ended. */
  | 'crashed'
  /** `close` was called. */
  | 'closed';

/** Why texts were not embedded. The message may be shown. */
export class EmbeddingFault extends Error {
  readonly kind: EmbeddingFaultKind;

  constructor(kind: EmbeddingFaultKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EmbeddingFault';
    this.kind = kind;
  }
}
