import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { isApiVersion } from '../api-version.ts';
import { isHeaderValue, isHostName, isHttpUrl, isNetwork, isWithoutUser, parseTime } from './values.ts';

interface FieldOptions {
  readonly description: string;
  readonly title?: string;
  readonly default?: unknown;
}

/** Returns an object schema that allows no other keys. A key with a default is always present after `complete`. */
export function strict<Properties extends TProperties>(properties: Properties, options: FieldOptions) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Limits of the values in an entry. They apply to configured and stored entries. */
export const fieldBounds = {
  maxNameChars: 200,
  /** Maximum length of an ID, a role, or another word. */
  maxWordChars: 1024,
  maxTextChars: 4000,
  /** Maximum length of an address, a header field, or a secret. */
  maxLineChars: 8192,
  /** Maximum number of deployments that an entry names, and of items in most other lists. */
  maxItems: 200,
  maxProperties: 200,
} as const;

interface NamedOptions extends FieldOptions {
  /** Term for the free keys, in a word or two. */
  readonly by: string;
  /** If undefined, the number of keys is unlimited. Stored entries must have a limit. */
  readonly maxProperties?: number;
}

/** Returns the schema of an object with free keys and values of one kind. */
export function buildRecord<Entry extends TSchema>(entry: Entry, { by, ...options }: NamedOptions) {
  return Type.Unsafe<Record<string, Static<Entry>>>({
    type: 'object',
    propertyNames: { title: by },
    additionalProperties: entry,
    ...options,
  });
}

/** Returns the schema of an object with any keys and values, with at most `maxChars` characters of JSON. */
export function openObject({ maxChars = 65_536, ...options }: FieldOptions & { readonly maxChars?: number }) {
  const object = Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: fieldBounds.maxProperties, ...options });
  return withinChars(object, maxChars);
}

/** Limits the JSON of a value to `maxChars` characters. */
export function withinChars<Schema extends TSchema>(schema: Schema, maxChars: number) {
  return Type.Refine(
    schema,
    (value) => JSON.stringify(value).length <= maxChars,
    () => `must have at most ${maxChars} characters of JSON`,
  );
}

export function text(description: string, maxLength: number = fieldBounds.maxWordChars) {
  return Type.String({ minLength: 1, maxLength, description });
}

/** Returns the schema of a date and time in ISO 8601 with a time zone. */
export function time(description: string) {
  return Type.Refine(
    Type.String({ maxLength: fieldBounds.maxNameChars, description }),
    (value) => parseTime(value) !== undefined,
    () => 'must be a date and time with a time zone, such as 2027-01-31T18:00:00Z',
  );
}

interface TextsOptions {
  readonly description: string;
  readonly default?: string[];
  readonly isPublic?: true;
  readonly maxItems?: number;
  /** Maximum length of each text. */
  readonly maxLength?: number;
}

export function texts({ maxItems = fieldBounds.maxItems, maxLength = fieldBounds.maxWordChars, ...options }: TextsOptions) {
  return Type.Array(Type.String({ minLength: 1, maxLength }), { maxItems, ...options });
}

/** Returns the schema of a whole number of milliseconds, at least 1, within the range of a timer. */
export function milliseconds(options: { readonly description: string; readonly default: number }) {
  return Type.Integer({ minimum: 1, maximum: 2_147_483_647, ...options });
}

export function httpUrl(description: string) {
  const errorMessage = 'must be an address that begins with http:// or https://';
  const bounds = { minLength: 1, maxLength: fieldBounds.maxLineChars };
  const urlString = Type.String({ ...bounds, description, pattern: '^[hH][tT][tT][pP][sS]?://', errorMessage });
  const httpUrl = Type.Refine(urlString, isHttpUrl, () => errorMessage);
  return Type.Refine(httpUrl, isWithoutUser, () => 'must not contain a user name or password, because Parley does not send them');
}

export function apiVersion(description: string) {
  return Type.Refine(text(description), isApiVersion, () => 'must be a calendar date YYYY-MM-DD, optionally with -preview');
}

const headerErrorMessage = 'must not contain a line break or another character that is invalid in a header field';

/** Returns the schema of a text for a header field. */
export function headerValue(description: string) {
  return Type.Refine(text(description, fieldBounds.maxLineChars), isHeaderValue, () => headerErrorMessage);
}

const hidden = { format: 'password', writeOnly: true, maxLength: fieldBounds.maxLineChars } as const;

/** Returns the schema of a text that is never displayed after it is saved. */
export function secretText(description: string) {
  return Type.String({ ...hidden, description });
}

/** Returns the schema of a secret with at least one character. */
export function secretLine(description: string) {
  return Type.String({ minLength: 1, ...hidden, description });
}

/** Returns the schema of a header field text that is never displayed after it is saved. */
export function secretHeaderValue(description: string) {
  return Type.Refine(Type.String({ minLength: 1, ...hidden, description }), isHeaderValue, () => headerErrorMessage);
}

/** Returns the schema of a network in CIDR notation, or an address. */
export function network() {
  return Type.Refine(
    Type.String({ maxLength: fieldBounds.maxNameChars }),
    isNetwork,
    () => 'must be an address, or a network such as 10.0.0.0/8',
  );
}

/** Returns the schema of a network in CIDR notation, an address, or a host name. */
export function networkOrHost() {
  return Type.Refine(
    Type.String(),
    (value) => isNetwork(value) || isHostName(value),
    () => 'must be a host name, an address, or a network such as 10.0.0.0/8',
  );
}
