import type { Native } from '../chat/frame.ts';

/** What is known of the bytes of a relayed reply. */
export interface Relayed extends Native {
  /** Header fields of the reply that are meant for its caller, with the first bytes. */
  readonly headers?: Readonly<Record<string, string>>;
}
