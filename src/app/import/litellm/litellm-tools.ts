import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';

/** What the entries of a model list are read with. */
export interface LitellmTools extends ImportTools {
  /** The values of `credential_list`, by name. */
  readonly credentials: ReadonlyMap<string, ForeignObject>;
  /** Seconds until a reply must begin, for entries that do not say; from `request_timeout`. */
  readonly timeoutSeconds: number | undefined;
}
