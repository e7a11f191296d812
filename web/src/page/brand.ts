import { isJsonObject, tryParseJson } from '#base/json/json.ts';

/** What the operator has given the page; it came with it. */
export interface Brand {
  readonly name?: string;
  /** The address of a picture, of this service. */
  readonly logo?: string;
  readonly notice?: string;
  /** `false`: browsers are to keep nothing of the page. */
  readonly offline?: boolean;
}

export function readBrand(): Brand {
  const given = tryParseJson(document.querySelector<HTMLMetaElement>('meta[name="parley-brand"]')?.content ?? '');
  if (!isJsonObject(given)) return {};
  const text = (key: keyof Brand) => (typeof given[key] === 'string' ? { [key]: given[key] } : {});
  return { ...text('name'), ...text('logo'), ...text('notice'), ...(given.offline === false && { offline: false }) };
}
