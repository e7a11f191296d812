import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type BodyKind, bodyKindOf } from '#domain/tools/body-kind.ts';
import type { InputSchemas } from './input-schema.ts';
import { objectOf, objectsOf, shorten, textOf } from './loose.ts';

/** One of the media types that an operation takes. */
export interface ChosenBody {
  readonly contentType: string;
  readonly kind: BodyKind;
  /** Media type object of OpenAPI 3.1. */
  readonly media: JsonObject;
}

const longestSchema = 2000;
/** What a model can fill in best comes first. */
const preferred: readonly BodyKind[] = ['json', 'form', 'multipart', 'text', 'bytes'];
const howToGiveBytes = 'Text, or for bytes a data URL such as data:image/png;name=a.png;base64,…';

/** The media type to send; undefined if none is named. */
export function chooseBody(content: JsonObject): ChosenBody | undefined {
  const types = Object.entries(content).map(([contentType, value]): ChosenBody => {
    const media = objectOf(value);
    const isBinary = contentType.includes('*') && isFileSchema(objectOf(media.schema));
    return isBinary
      ? { contentType: 'application/octet-stream', kind: 'bytes', media }
      : { contentType: contentType.replace('*/*', 'application/json'), kind: bodyKindOf(contentType), media };
  });
  return types.toSorted((one, other) => preferred.indexOf(one.kind) - preferred.indexOf(other.kind))[0];
}

/** Of alternatives one of which is null, the other. */
export function onlyAlternative(schema: JsonObject): JsonObject {
  const given = [schema.oneOf, schema.anyOf].flatMap(objectsOf).filter(({ type }) => type !== 'null');
  const [only] = given;
  return schema.properties === undefined && given.length === 1 && only !== undefined ? onlyAlternative(only) : schema;
}

/** Whether fields can stand for the body: alternatives of it only choose among them. */
export function hasNamedFields({ properties, oneOf, anyOf }: JsonObject): boolean {
  const names = Object.keys(objectOf(properties));
  const others = [...objectsOf(oneOf), ...objectsOf(anyOf)];
  return names.length > 0 && others.every((each) => Object.keys(objectOf(each.properties)).every((name) => names.includes(name)));
}

/** Whether nothing can be put into it: some documents give each operation a body. */
export function isAlwaysEmpty({ properties, additionalProperties = false, ...schema }: JsonObject): boolean {
  const hasOthers = ['allOf', 'anyOf', 'oneOf', '$ref', 'patternProperties'].some((keyword) => keyword in schema);
  return isJsonObject(properties) && Object.keys(properties).length === 0 && additionalProperties === false && !hasOthers;
}

/** A file, or a list of files. */
export function isFileSchema(schema: JsonObject): boolean {
  const { format, contentMediaType, contentEncoding, type, items } = schema;
  if (type === 'array') return isFileSchema(objectOf(items));
  return format === 'binary' || (contentMediaType !== undefined && contentEncoding === undefined);
}

/** What a model is asked for in place of a file. */
export function toFileSchema(schema: JsonObject): JsonObject {
  if (schema.type === 'array') return { ...schema, items: toFileSchema(objectOf(schema.items)) };
  const description = [textOf(schema.description), howToGiveBytes].filter((each) => each !== undefined).join(' ');
  return { type: 'string', format: 'binary', description };
}

/** A body of text or bytes; what its fields would be is told in words. */
export function toTextSchema({ contentType, kind, media }: ChosenBody, schemas: InputSchemas): JsonObject {
  const { description, ...schema } = schemas.copy(media.schema);
  const said = [textOf(description), `The body, as ${contentType}.`, kind === 'bytes' ? howToGiveBytes : undefined];
  const shape = schema.properties === undefined ? undefined : `Its fields, as JSON Schema: ${JSON.stringify(schema)}`;
  const told = [...said, shape].filter((each) => each !== undefined).join(' ');
  return { type: 'string', description: shorten(told, longestSchema) };
}
