import { isJsonObject, type JsonObject, parsePointer } from '#base/json/json.ts';
import { ParleyError } from './errors.ts';

/**
 * Maximum number of values that are searched for errors. The search takes about 10 µs per value, a hundred times as long as the
 * check.
 */
const maxSearchedValues = 12_000;
/** Known fields have shorter names, so longer names are not compared. */
const maxNameChars = 100;
/** Longest URL that most servers accept. `data:` URLs contain their content, so only the body limit applies to them. */
const maxUrlChars = 8 * 1024;

interface SchemaError {
  readonly keyword: string;
  /** JSON pointer to the invalid value. */
  readonly instancePath: string;
  readonly params: object;
}

/** Check of a value. */
export interface Shape<Value> {
  Check(value: unknown): value is Value;
  Errors(value: unknown): readonly SchemaError[];
}

/** Returns an `invalid_request` for one field. `claim` follows the path to form a sentence, such as "must be a string". */
export function createRequestError(param: string, claim: string): ParleyError {
  return new ParleyError('invalid_request', `${param} ${claim}.`, { param });
}

/**
 * Returns the value if it has the shape. Throws `invalid_request` for the first error in schema order. `path` locates the value, and
 * is '' for the body.
 */
export function requireShape<Value>(shape: Shape<Value>, value: unknown, path = ''): Value {
  if (shape.Check(value)) return value;
  const errors = shape.Errors(copyFirstValues(value, { remaining: maxSearchedValues }));
  const first = errors[0];
  if (first === undefined)
    throw new ParleyError(
      'invalid_request',
      `A list has too many items, or an item after the first ${maxSearchedValues} values has a wrong form.`,
    );
  const error = isAlternative(first) ? findMostSpecific(first, errors) : first;
  const param = toParam(error, value, path);
  if (param === '') throw new ParleyError('invalid_request', `The body ${toClaim(error, errors)}.`);
  throw createRequestError(param, toClaim(error, errors));
}

/** Returns a copy whose lists end when the count of values reaches 0. */
function copyFirstValues(value: unknown, count: { remaining: number }): unknown {
  count.remaining -= 1;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (count.remaining <= 0) break;
      items.push(copyFirstValues(item, count));
    }
    return items;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyFirstValues(member, count)]));
}

/**
 * Throws if a key differs from a known one only by letter case, because an upstream that ignores case would read an unchecked
 * field. Returns whether a field is null, which can mean absence.
 */
export function checkFields(value: JsonObject, knownFields: ReadonlySet<string>, path = ''): boolean {
  let hasNull = false;
  for (const key in value) {
    if (value[key] === null) hasNull = true;
    if (knownFields.has(key) || key.length > maxNameChars) continue;
    const folded = key.toUpperCase().toLowerCase();
    if (knownFields.has(folded)) throw createRequestError(joinPath(path, key), `is not a known field. The name is ${folded}`);
  }
  return hasNull;
}

function isAlternative({ keyword }: SchemaError): boolean {
  return keyword === 'type' || keyword === 'enum';
}

/** If one of several allowed forms matches except for an inner value, returns the error of the inner value. */
function findMostSpecific(first: SchemaError, errors: readonly SchemaError[]): SchemaError {
  const isAtOrBelow = ({ instancePath }: SchemaError) =>
    instancePath === first.instancePath || instancePath.startsWith(`${first.instancePath}/`);
  const isSpecific = (error: SchemaError) =>
    error.instancePath !== first.instancePath || !(isAlternative(error) || error.keyword === 'anyOf');
  return errors.find((error) => isAtOrBelow(error) && isSpecific(error)) ?? first;
}

function toParam({ instancePath, params }: SchemaError, value: unknown, path: string): string {
  let fullPath = path;
  let current = value;
  for (const key of parsePointer(instancePath)) {
    fullPath = Array.isArray(current) ? `${fullPath}[${key}]` : joinPath(fullPath, key);
    current = isJsonObject(current) || Array.isArray(current) ? (current as Record<string, unknown>)[key] : undefined;
  }
  const [missing] = 'requiredProperties' in params ? (params.requiredProperties as string[]) : [];
  return missing === undefined ? fullPath : joinPath(fullPath, missing);
}

/** Appends a key to the path of a field. Truncates long keys. */
export function joinPath(path: string, key: string): string {
  const displayedKey = key.length > 64 ? `${key.slice(0, 64)}…` : key;
  return path === '' ? displayedKey : `${path}.${displayedKey}`;
}

function toClaim(error: SchemaError, errors: readonly SchemaError[]): string {
  const params = error.params as { limit?: number; pattern?: string | RegExp };
  switch (error.keyword) {
    case 'required':
      return 'is required';
    // The schema of a field that the object does not define.
    case 'boolean':
      return 'is not a known field';
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'exclusiveMinimum':
      return `must be greater than ${params.limit}`;
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
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'pattern':
      return `must match ${params.pattern}`;
    default:
      return `must be ${toAlternatives(errors.filter(({ instancePath }) => instancePath === error.instancePath))}`;
  }
}

/** Returns the allowed forms in words: "a string, null or an array". */
function toAlternatives(errors: readonly SchemaError[]): string {
  const options = new Set(errors.filter(isAlternative).flatMap(({ params }) => toWords(params)));
  if (options.size === 0) return 'in a documented form (see /docs)';
  const [last, ...otherOptions] = [...options].reverse();
  return otherOptions.length === 0 ? String(last) : `${otherOptions.reverse().join(', ')} or ${last}`;
}

function toWords(params: { type?: string | readonly string[]; allowedValues?: readonly unknown[] }): string[] {
  if (params.allowedValues !== undefined) return params.allowedValues.map((value) => JSON.stringify(value));
  return [params.type ?? 'value in a documented form (see /docs)']
    .flat()
    .map((type) => (type === 'null' ? type : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`));
}

/** Throws `invalid_request` if a URL is longer than 8192 characters and is not a `data:` URL. `path` locates the URL. */
export function requireUrlLength(url: string, path: string): void {
  if (url.length > maxUrlChars && !/^data:/i.test(url))
    throw createRequestError(path, `must have at most ${maxUrlChars} characters unless it is a data: URL`);
}
