import { tryParseJson } from '#base/json/json.ts';
import { isStorableText } from '#base/text/storable-key.ts';
import { parseScimTime, type ScimComparison, type ScimFilter, type ScimPath } from '#domain/scim/scim-filter.ts';
import { scimError } from './scim-error.ts';

const maxChars = 2_000;
const maxDepth = 10;
/** Maximum number of words, brackets, and strings. */
const maxTokens = 200;

const comparisons: ReadonlySet<string> = new Set(['eq', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] satisfies ScimComparison[]);
// Pattern bound: at most 2,000 characters, and the alternatives have different first characters.
const tokenPattern = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+)|(\S))/gs;
// Pattern bound: linear. An attribute contains no colon, so only the last one can end the URN.
const pathPattern = /^(?:(urn:[\w.:-]{1,200}):)?([A-Za-z][\w$-]{0,99})(?:\.([A-Za-z$][\w$-]{0,99}))?$/i;
const coreUrn = /^urn:ietf:params:scim:schemas:core:2\.0:\w+$/i;

/** A path of PATCH, such as `emails[type eq "work"].value`. */
export interface PatchPath extends ScimPath {
  /** Selects items of the attribute. `sub` is then an attribute of the items. */
  readonly filter?: ScimFilter;
}

/** Parses a filter (RFC 7644, 3.4.2.2). Throws the SCIM error `invalidFilter`. */
export function parseFilter(text: string): ScimFilter {
  return parse('invalidFilter', text, (parser) => parser.readFilter());
}

/** Parses the path of an operation (RFC 7644, 3.5.2). Throws the SCIM error `invalidPath`. */
export function parsePatchPath(text: string): PatchPath {
  return parse('invalidPath', text, (parser) => parser.readPatchPath());
}

function parse<Result>(scimType: 'invalidFilter' | 'invalidPath', text: string, rule: (parser: FilterParser) => Result): Result {
  try {
    if (text.length > maxChars) throw new SyntaxIssue(`has more than ${maxChars} characters`);
    const parser = new FilterParser(text);
    const result = rule(parser);
    parser.requireEnd();
    return result;
  } catch (error) {
    if (!(error instanceof SyntaxIssue)) throw error;
    const name = scimType === 'invalidFilter' ? 'filter' : 'path';
    throw scimError(scimType, `The ${name} ${JSON.stringify(text.slice(0, 200))} ${error.message}.`);
  }
}

/** A syntax error. Its message continues a sentence about the filter or the path. */
class SyntaxIssue extends Error {}

class FilterParser {
  readonly #tokens: readonly string[];
  /** Index of the next token. */
  #next = 0;
  #depth = 0;

  constructor(text: string) {
    this.#tokens = Array.from(text.matchAll(tokenPattern), ([token]) => token.trim());
    if (this.#tokens.length > maxTokens) throw new SyntaxIssue(`has more than ${maxTokens} parts`);
  }

  requireEnd(): void {
    const token = this.#tokens[this.#next];
    if (token !== undefined) throw new SyntaxIssue(`has an unexpected ${token.slice(0, 50)}`);
  }

  readFilter(): ScimFilter {
    return this.#readJoined('or', () => this.#readJoined('and', () => this.#readTerm()));
  }

  readPatchPath(): PatchPath {
    const path = readPath(this.#readToken());
    if (path.sub !== undefined || this.#peek() !== '[') return path;
    const filter = this.#readNested('[', ']');
    return { ...path, filter, ...this.#readSub() };
  }

  #readJoined(op: 'and' | 'or', readPart: () => ScimFilter): ScimFilter {
    const first = readPart();
    const filters = [first];
    while (this.#peek() === op) {
      this.#next += 1;
      filters.push(readPart());
    }
    return filters.length === 1 ? first : { op, filters };
  }

  #readTerm(): ScimFilter {
    if (this.#peek() === '(') return this.#readNested('(', ')');
    if (this.#peek() === 'not') {
      this.#next += 1;
      return { op: 'not', filter: this.#readNested('(', ')') };
    }
    const path = readPath(this.#readToken());
    if (this.#peek() !== '[') return this.#readComparison(path);
    const filter = this.#readNested('[', ']');
    const sub = this.#readSub();
    // Microsoft Entra ID sends emails[type eq "work"].value eq "X". Both conditions are about the same item.
    return {
      op: 'has',
      path,
      filter: sub === undefined ? filter : { op: 'and', filters: [filter, this.#readComparison({ attribute: sub.sub })] },
    };
  }

  #readNested(open: '(' | '[', close: ')' | ']'): ScimFilter {
    this.#require(open);
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new SyntaxIssue(`has more than ${maxDepth} nested brackets`);
    const filter = this.readFilter();
    this.#depth -= 1;
    this.#require(close);
    return filter;
  }

  #readSub(): { readonly sub: string } | undefined {
    const token = this.#tokens[this.#next];
    if (token === undefined || !token.startsWith('.')) return undefined;
    this.#next += 1;
    const { attribute, sub, extension } = readPath(token.slice(1));
    if (sub !== undefined || extension !== undefined) throw new SyntaxIssue('has more than one attribute after the brackets');
    return { sub: attribute };
  }

  #readComparison(path: ScimPath): ScimFilter {
    const op = this.#readToken().toLowerCase();
    if (op === 'pr') return { op, path };
    if (op !== 'ne' && !comparisons.has(op))
      throw new SyntaxIssue('needs one of eq, ne, co, sw, ew, gt, ge, lt, le, or pr after each attribute');
    const value = readValue(this.#readToken());
    const isPresent: ScimFilter = { op: 'pr', path };
    if (value === null && op === 'eq') return { op: 'not', filter: isPresent };
    if (value === null && op === 'ne') return isPresent;
    if (value === null) throw new SyntaxIssue(`uses ${op} with null, which only eq and ne allow`);
    if (op === 'ne') return { op: 'not', filter: { op: 'eq', path, value } };
    return { op: op as ScimComparison, path, value };
  }

  /** Returns the next token in lower case without reading it. */
  #peek(): string | undefined {
    return this.#tokens[this.#next]?.toLowerCase();
  }

  #readToken(): string {
    const token = this.#tokens[this.#next];
    if (token === undefined) throw new SyntaxIssue('ends too early');
    this.#next += 1;
    return token;
  }

  #require(expected: string): void {
    if (this.#tokens[this.#next] !== expected) throw new SyntaxIssue(`lacks a ${expected}`);
    this.#next += 1;
  }
}

function readPath(token: string): ScimPath {
  const [, urn, attribute, sub] = pathPattern.exec(token) ?? [];
  if (attribute === undefined)
    throw new SyntaxIssue(`has ${token.slice(0, 50)} instead of an attribute, such as name.familyName`);
  const extension = urn === undefined || coreUrn.test(urn) ? undefined : urn;
  return { attribute, ...(extension !== undefined && { extension }), ...(sub !== undefined && { sub }) };
}

function readValue(token: string): string | number | boolean | null {
  const value = tryParseJson(token.startsWith('"') ? token : token.toLowerCase());
  if (typeof value === 'string' && !isStorableText(value)) throw new SyntaxIssue('contains NUL or an unpaired surrogate');
  if (value === null && token.toLowerCase() !== 'null') throw new SyntaxIssue(`has an invalid value ${token.slice(0, 50)}`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value;
  throw new SyntaxIssue(`has an invalid value ${token.slice(0, 50)}. Write texts in quotation marks`);
}

const times: ReadonlySet<string> = new Set(['meta.created', 'meta.lastmodified']);
const groupAttributes: ReadonlySet<string> = new Set(['id', 'externalid', 'displayname', ...times]);

/** Throws the SCIM error `invalidFilter` if a filter uses attributes or comparisons that a kind of resource does not support. */
export function requireFilterable(filter: ScimFilter, kind: 'User' | 'Group'): void {
  if ('filters' in filter) {
    for (const part of filter.filters) requireFilterable(part, kind);
    return;
  }
  if (filter.op === 'not') return requireFilterable(filter.filter, kind);
  const { extension, attribute } = filter.path;
  const name = extension === undefined ? formatPath(filter.path) : '';
  if (kind === 'User' && extension === undefined && attribute.toLowerCase() === 'groups')
    throw scimError('invalidFilter', 'A filter of users cannot use groups. Filter the groups by members.');
  if (kind === 'Group' && (name === 'members' || name === 'members.value')) {
    if (filter.op !== 'pr' && listMemberIds(filter) === undefined)
      throw scimError('invalidFilter', 'members can only be compared with eq and the ID of a user.');
  } else if (kind === 'Group' && (filter.op === 'has' || !groupAttributes.has(name)))
    throw scimError(
      'invalidFilter',
      'A filter of groups can use displayName, externalId, id, members, meta.created, and meta.lastModified.',
    );
  if (times.has(name) && 'value' in filter) requireTime(filter);
}

function requireTime({ op, path, value }: Extract<ScimFilter, { readonly value: unknown }>): void {
  if (['co', 'sw', 'ew'].includes(op) || parseScimTime(String(value)) === undefined)
    throw scimError('invalidFilter', `${formatPath(path)} can only be compared with a time, such as "2026-01-31T12:00:00Z".`);
}

/** Returns the IDs that a filter of members selects, such as `value eq "ID"`. Undefined for other filters. */
export function listMemberIds(filter: ScimFilter): readonly string[] | undefined {
  if (filter.op === 'has') return listMemberIds(filter.filter);
  if (filter.op === 'or') {
    const ids = filter.filters.map(listMemberIds);
    return ids.every((list) => list !== undefined) ? ids.flat() : undefined;
  }
  const comparesMember = filter.op === 'eq' && ['members', 'members.value', 'value'].includes(formatPath(filter.path));
  return comparesMember && typeof filter.value === 'string' ? [filter.value] : undefined;
}

function formatPath({ attribute, sub }: ScimPath): string {
  return (sub === undefined ? attribute : `${attribute}.${sub}`).toLowerCase();
}
