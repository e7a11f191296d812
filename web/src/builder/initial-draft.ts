import type { JsonObject } from '#base/json/json.ts';

/** What a new application begins with. */
export interface InitialDraft {
  readonly entry: JsonObject;
  readonly note: string;
}
