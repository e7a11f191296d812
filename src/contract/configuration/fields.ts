import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { isApiVersion } from '../api-version.ts';
import { isHeaderValue, isHostName, isHttpUrl, isNetwork, isWithoutUser } from './values.ts';

interface FieldOptions {
  readonly description: string;
  readonly title?: string;
  readonly default?: unknown;
}

/** An object that takes no other keys than these. A key with a default is always there once `complete` has run. */
export function strict<Properties extends TProperties>(properties: Properties, options: FieldOptions) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Bounds of the values in an entry. They apply to configured and stored entries. */
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
  /** What the free keys are, in a word or two. */
  readonly by: string;
  /** Absent: as many as there are. Stored entries must have a bound. */
  readonly maxProperties?: number;
}

/** An object whose keys are free and whose values are all of one kind. */
export function buildRecord<Entry extends TSchema>(entry: Entry, { by, ...options }: NamedOptions) {
  return Type.Unsafe<Record<string, Static<Entry>>>({
    type: 'object',
    propertyNames: { title: by },
    additionalProperties: entry,
    ...options,
  });
}

/** An object with any keys and values, of at most `maxChars` characters of JSON. */
export function open({ maxChars = 65_536, ...options }: FieldOptions & { readonly maxChars?: number }) {
  const object = Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: fieldBounds.maxProperties, ...options });
  return withinChars(object, maxChars);
}

/** The schema with a bound on the JSON of its value. */
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

/** A whole number of milliseconds, at least one, that a timer can hold. */
export function milliseconds(options: { readonly description: string; readonly default: number }) {
  return Type.Integer({ minimum: 1, maximum: 2_147_483_647, ...options });
}

export function httpUrl(description: string) {
  const errorMessage = 'must be an address that begins with http:// or https://';
  const bounds = { minLength: 1, maxLength: fieldBounds.maxLineChars };
  const urlString = Type.String({ ...bounds, description, pattern: '^[hH][tT][tT][pP][sS]?://', errorMessage });
  const httpUrl = Type.Refine(urlString, isHttpUrl, () => errorMessage);
  return Type.Refine(httpUrl, isWithoutUser, () => 'must not carry a user name or password: they are not sent');
}

export function apiVersion(description: string) {
  return Type.Refine(text(description), isApiVersion, () => 'must be a calendar date YYYY-MM-DD, optionally with -preview');
}

const notInHeader = 'must not hold a line break or another character that a header field cannot carry';

/** Text sent in a header field. */
export function headerValue(description: string) {
  return Type.Refine(text(description, fieldBounds.maxLineChars), isHeaderValue, () => notInHeader);
}

const hidden = { format: 'password', writeOnly: true, maxLength: fieldBounds.maxLineChars } as const;

/** Text that is never shown again once it was written. */
export function secretText(description: string) {
  return Type.String({ ...hidden, description });
}

/** Text sent in a header field, never shown again once it was written. */
export function secretHeaderValue(description: string) {
  return Type.Refine(Type.String({ minLength: 1, ...hidden, description }), isHeaderValue, () => notInHeader);
}

/** A network in CIDR notation, or an address. */
export function network() {
  return Type.Refine(Type.String(), isNetwork, () => 'must be an address, or a network such as 10.0.0.0/8');
}

/** A network in CIDR notation, an address, or a host name. */
export function networkOrHost() {
  return Type.Refine(
    Type.String(),
    (value) => isNetwork(value) || isHostName(value),
    () => 'must be a host name, an address, or a network such as 10.0.0.0/8',
  );
}
