import { isJsonObject, tryParseJson } from '#base/json/json.ts';

/** Branding of the operator, embedded in the page. */
export interface Brand {
  readonly name?: string;
  /** Address of a picture at this service. */
  readonly logo?: string;
  readonly notice?: string;
  /** `false`: browsers must not store the page. */
  readonly offline?: boolean;
}

export function readBrand(): Brand {
  const value = tryParseJson(document.querySelector<HTMLMetaElement>('meta[name="parley-brand"]')?.content ?? '');
  if (!isJsonObject(value)) return {};
  const pickText = (key: keyof Brand) => (typeof value[key] === 'string' ? { [key]: value[key] } : {});
  return { ...pickText('name'), ...pickText('logo'), ...pickText('notice'), ...(value.offline === false && { offline: false }) };
}
