import { isJsonObject, type JsonObject, parsePointer } from '#base/json/json.ts';
import { ParleyError } from './errors.ts';

/** Values of a body in which errors are searched for. The search takes some 10 µs for each, a hundred times as long as the check. */
const maxSearchedValues = 12_000;
/** No known field has a longer name. */
const maxNameChars = 100;
/** Longest URL that most servers accept. `data:` URLs hold their content and have only the bound of the body. */
const maxUrlChars = 8 * 1024;

interface SchemaError {
  readonly keyword: string;
  /** JSON pointer to the value at fault. */
  readonly instancePath: string;
  readonly params: object;
}

/** A compiled schema. */
interface Shape<Value> {
  Check(value: unknown): value is Value;
  Errors(value: unknown): readonly SchemaError[];
}

/** The 400 of one field: `claim` follows its path and makes a sentence, such as "must be a string". */
export function createRequestError(param: string, claim: string): ParleyError {
  return new ParleyError('invalid_request', `${param} ${claim}.`, { param });
}

/** The value, if it has the shape. Throws invalid_request for the first fault in the order of the schema; `at` is the path of the value, '' for the body. */
export function requireShape<Value>(shape: Shape<Value>, value: unknown, at = ''): Value {
  if (shape.Check(value)) return value;
  const errors = shape.Errors(firstValues(value, { remaining: maxSearchedValues }));
  const first = errors[0];
  if (first === undefined)
    throw new ParleyError(
      'invalid_request',
      `A list has too many items, or an item after the first ${maxSearchedValues} values has a wrong form.`,
    );
  const error = isAlternative(first) ? narrowest(first, errors) : first;
  const param = toParam(error, value, at);
  if (param === '') throw new ParleyError('invalid_request', `The body ${toClaim(error, errors)}.`);
  throw createRequestError(param, toClaim(error, errors));
}

/** Returns a copy whose lists end where the count of values is used up. */
function firstValues(value: unknown, count: { remaining: number }): unknown {
  count.remaining -= 1;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (count.remaining <= 0) break;
      items.push(firstValues(item, count));
    }
    return items;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, firstValues(member, count)]));
}

/**
 * Refuses a key that differs from a known one by letter case only: a reader further on that ignores case would see an unchecked field.
 * Gives whether a field is null, which may stand for its absence.
 */
export function refuseOtherCase(value: JsonObject, knownFields: ReadonlySet<string>, at = ''): boolean {
  let hasNull = false;
  for (const key in value) {
    if (value[key] === null) hasNull = true;
    if (knownFields.has(key) || key.length > maxNameChars) continue;
    const folded = key.toUpperCase().toLowerCase();
    if (knownFields.has(folded)) throw createRequestError(joined(at, key), `is not a known field; the name is ${folded}`);
  }
  return hasNull;
}

function isAlternative({ keyword }: SchemaError): boolean {
  return keyword === 'type' || keyword === 'enum';
}

/** Where several forms are allowed and one fits but for something inside it, that is the fault. */
function narrowest(first: SchemaError, errors: readonly SchemaError[]): SchemaError {
  const isWithin = ({ instancePath }: SchemaError) =>
    instancePath === first.instancePath || instancePath.startsWith(`${first.instancePath}/`);
  const isInside = (error: SchemaError) =>
    error.instancePath !== first.instancePath || !(isAlternative(error) || error.keyword === 'anyOf');
  return errors.find((error) => isWithin(error) && isInside(error)) ?? first;
}

function toParam({ instancePath, params }: SchemaError, value: unknown, at: string): string {
  let path = at;
  let current = value;
  for (const key of parsePointer(instancePath)) {
    path = Array.isArray(current) ? `${path}[${key}]` : joined(path, key);
    current = isJsonObject(current) || Array.isArray(current) ? (current as Record<string, unknown>)[key] : undefined;
  }
  const [missing] = 'requiredProperties' in params ? (params.requiredProperties as string[]) : [];
  return missing === undefined ? path : joined(path, missing);
}

function joined(path: string, key: string): string {
  const displayedKey = key.length > 64 ? `${key.slice(0, 64)}…` : key;
  return path === '' ? displayedKey : `${path}.${displayedKey}`;
}

function toClaim(error: SchemaError, errors: readonly SchemaError[]): string {
  const params = error.params as { limit?: number; pattern?: string | RegExp };
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'minItems':
      return `must have at least ${params.limit} ${params.limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must have at most ${params.limit} items`;
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'maxProperties':
      return `must have at most ${params.limit} keys`;
    case 'pattern':
      return `must match ${params.pattern}`;
    default:
      return `must be ${toAlternatives(errors.filter(({ instancePath }) => instancePath === error.instancePath))}`;
  }
}

/** The forms that are allowed at one place, in words: "a string, null or an array". */
function toAlternatives(errors: readonly SchemaError[]): string {
  const options = new Set(errors.filter(isAlternative).flatMap(({ params }) => toWords(params)));
  const [last, ...rest] = [...options].reverse();
  return rest.length === 0 ? String(last) : `${rest.reverse().join(', ')} or ${last}`;
}

function toWords(params: { type?: string | readonly string[]; allowedValues?: readonly unknown[] }): string[] {
  if (params.allowedValues !== undefined) return params.allowedValues.map((value) => JSON.stringify(value));
  return [params.type ?? 'of another form']
    .flat()
    .map((type) => (type === 'null' ? type : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`));
}

/** Throws invalid_request if a URL is longer than 8192 characters and is not a `data:` URL. `at` is the path of the URL. */
export function requireUrlLength(url: string, at: string): void {
  if (url.length > maxUrlChars && !/^data:/i.test(url))
    throw createRequestError(at, `must have at most ${maxUrlChars} characters unless it is a data: URL`);
}
