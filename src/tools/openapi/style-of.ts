import type { JsonObject } from '#base/json.ts';
import type { RestStyle, RestTarget } from '#domain/tools/rest-tool.ts';
import { objectOf, objectsOf } from './loose.ts';

type Style = Pick<RestTarget, 'style' | 'explode'>;

const styles: readonly RestStyle[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

/** How a parameter of the query is written, as far as it is not the way of its own: lists repeat the key. */
export function styleOf(parameter: JsonObject, schema: JsonObject): Style {
  const style = styles.find((each) => each === parameter.style) ?? 'form';
  if (style === 'deepObject') return { style };
  if (style === 'form' && parameter.explode !== false) return mayBeObject(schema) ? { style } : {};
  return parameter.explode === true ? {} : { style, explode: false };
}

/** How a field of a form is written where its encoding object says so; undefined: lists repeat the key, objects are JSON. */
export function encodedStyle(encoding: unknown): Style {
  const { style, explode, contentType } = objectOf(encoding);
  if (contentType !== undefined || (style === undefined && explode === undefined)) return {};
  const named = styles.find((each) => each === style) ?? 'form';
  return named === 'deepObject' ? { style: named } : { style: named, ...(typeof explode === 'boolean' && { explode }) };
}

function mayBeObject(schema: JsonObject): boolean {
  const types = [schema.type].flat();
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap(objectsOf);
  return types.includes('object') || schema.properties !== undefined || parts.some(mayBeObject);
}
