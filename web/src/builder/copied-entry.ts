import { isJsonObject, type JsonObject } from '#base/json.ts';
import { emptySecrets, hiddenSecret } from './shape.ts';

/** An entry that is to become another application: what is stored of its secrets stays with the first. */
export function withoutHiddenSecrets(schema: JsonObject, entry: JsonObject): { entry: JsonObject; isChanged: boolean } {
  const { applicationProperties: before } = entry;
  let isChanged = false;
  const isGone = (secret: string): boolean => {
    const isHidden = secret === hiddenSecret;
    isChanged ||= isHidden;
    return isHidden;
  };
  if (!isJsonObject(before)) return { entry, isChanged };
  const after = emptySecrets(schema, before, isGone);
  return { entry: { ...entry, applicationProperties: after }, isChanged };
}
