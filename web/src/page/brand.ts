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
  const value = tryParseJson(document.querySelector<HTMLMetaElement>('meta[name="parley-brand"]')?.content ?? '');
  if (!isJsonObject(value)) return {};
  const text = (key: keyof Brand) => (typeof value[key] === 'string' ? { [key]: value[key] } : {});
  return { ...text('name'), ...text('logo'), ...text('notice'), ...(value.offline === false && { offline: false }) };
}
