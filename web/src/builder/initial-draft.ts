import type { JsonObject } from '#base/json/json.ts';

/** Initial content of a new application. */
export interface InitialDraft {
  readonly entry: JsonObject;
  readonly note: string;
}
