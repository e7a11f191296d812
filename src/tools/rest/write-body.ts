import { isJsonObject, type JsonObject } from '#base/json.ts';
import { bodyKindOf } from '#domain/tools/body-kind.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import { toContent } from './file-content.ts';
import { writeMultipart } from './multipart.ts';
import { type Placed, toPairs, toText } from './styled-pairs.ts';

export interface WrittenBody {
  readonly bytes: Buffer;
  readonly contentType: string;
}

export interface BodyParts {
  readonly contentType: string;
  /** The body itself, where one value is all of it. */
  readonly whole: Placed | undefined;
  readonly fields: readonly Placed[];
  /** Credentials that are sent in the body. */
  readonly secrets: JsonObject;
}

/** A body as its media type has it. Throws ToolFault where the value cannot be written so. */
export function writeBody({ contentType, whole, fields, secrets }: BodyParts): WrittenBody {
  const kind = bodyKindOf(contentType);
  const secretFields = Object.entries(secrets).map(([key, value]): Placed => ({ place: 'body', key, value }));
  if (kind === 'text' || kind === 'bytes' || (kind === 'json' && whole !== undefined && !isJsonObject(whole.value))) {
    if (secretFields.length > 0) throw new ToolFault('The body must be an object.');
    return kind === 'json' ? toJson(contentType, whole?.value) : toPlain(contentType, whole?.value);
  }
  const all = [...fieldsOf(whole), ...fields, ...secretFields];
  if (kind === 'json') return toJson(contentType, Object.fromEntries(all.map(({ key, value }) => [key, value])));
  if (kind === 'multipart') return writeMultipart(lastOfEach(all));
  const form = new URLSearchParams();
  for (const field of lastOfEach(all)) for (const [name, text] of toPairs(field)) form.append(name, text.toWellFormed());
  return { bytes: Buffer.from(form.toString()), contentType };
}

function fieldsOf(whole: Placed | undefined): Placed[] {
  if (whole === undefined) return [];
  if (!isJsonObject(whole.value)) throw new ToolFault('The body must be an object.');
  return Object.entries(whole.value).map(([key, value]) => ({ ...whole, place: 'body', key, value }));
}

/** In their order: what comes later wins. */
function lastOfEach(fields: readonly Placed[]): readonly Placed[] {
  return [...new Map(fields.map((field) => [field.key, field])).values()];
}

function toJson(contentType: string, value: unknown): WrittenBody {
  return { bytes: Buffer.from(JSON.stringify(value)), contentType: contentType.includes('*') ? 'application/json' : contentType };
}

function toPlain(contentType: string, value: unknown): WrittenBody {
  const { bytes, type } = toContent(toText(value ?? ''));
  return { bytes, contentType: contentType.includes('*') ? (type ?? 'application/octet-stream') : contentType };
}
