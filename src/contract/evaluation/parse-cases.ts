import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject, parseJson } from '#base/json/json.ts';
import { PatternError, withPatterns } from '#base/text/patterns.ts';
import { parseMessage } from '../chat/parse-message.ts';
import { createRequestError, requireShape } from '../errors/request-error.ts';
import { type CheckType, caseBounds, checkForms, type EvaluationCase, type EvaluationCheck } from './evaluation-case.ts';

const forms = new Map(
  Object.entries(checkForms).map(([type, form]) => [
    type,
    { shape: Compile(form as TSchema), keys: Object.keys(form.properties) },
  ]),
);
const caseKeys = ['name', 'input', 'checks'];
const maxSchemaChars = 16_000;
const maxNameLength = 200;

/** Parses one case, a list of cases, or `{"cases": […]}`. Throws `invalid_request` with the path of the error. */
export function parseCases(body: unknown): readonly EvaluationCase[] {
  if (Array.isArray(body)) return parseList(body, '');
  if (isJsonObject(body) && 'cases' in body) {
    rejectUnknown(body, ['cases'], '');
    if (!Array.isArray(body.cases)) throw createRequestError('cases', 'must be an array');
    return parseList(body.cases, 'cases');
  }
  return [parseCase(body)];
}

/** Parses a list of cases at a path. Throws `invalid_request`. */
export function parseList(list: readonly unknown[], at: string): readonly EvaluationCase[] {
  const where = at === '' ? 'The body' : at;
  if (list.length === 0) throw createRequestError(where, 'must have at least one case');
  if (list.length > caseBounds.maxCases) throw createRequestError(where, `must have at most ${caseBounds.maxCases} cases`);
  if (JSON.stringify(list).length > caseBounds.maxCharsOfAll)
    throw createRequestError(where, `must have at most ${caseBounds.maxCharsOfAll} characters of JSON`);
  const patterns: LocatedPattern[] = [];
  const cases = list.map((item, index) => readCase(item, `${at}[${index}]`, patterns));
  requirePatterns(patterns, where);
  return cases;
}

interface LocatedPattern {
  readonly pattern: string;
  readonly at: string;
}

/** Parses one case and converts its values to plain JSON. `at` is its path. Throws `invalid_request`. */
export function parseCase(value: unknown, at = ''): EvaluationCase {
  const patterns: LocatedPattern[] = [];
  const parsed = readCase(value, at, patterns);
  requirePatterns(patterns, at || 'The body');
  return parsed;
}

/** Parses a stored case. Its patterns are compiled only on use. Throws `invalid_request`. */
export function parseStoredCase(value: unknown): EvaluationCase {
  return readCase(value, '', []);
}

/** Parses a case and collects its patterns, so that all patterns of a body are compiled within one time limit. */
function readCase(value: unknown, at: string, patterns: LocatedPattern[]): EvaluationCase {
  if (!isJsonObject(value)) throw createRequestError(at || 'The body', 'must be an object with input and checks');
  rejectUnknown(value, caseKeys, at);
  const text = JSON.stringify(value);
  if (text.length > caseBounds.maxChars)
    throw createRequestError(at || 'The body', `must have at most ${caseBounds.maxChars} characters of JSON`);
  // Numbers can be in their original notation, so the text is parsed again.
  const { name, input, checks = [] } = parseJson(text) as JsonObject;
  if (name !== undefined && name !== null) requireName(name, joinPath(at, 'name'));
  if (!Array.isArray(checks)) throw createRequestError(joinPath(at, 'checks'), 'must be an array');
  if (checks.length > caseBounds.maxChecks)
    throw createRequestError(joinPath(at, 'checks'), `must have at most ${caseBounds.maxChecks} items`);
  return {
    ...(typeof name === 'string' && { name }),
    input: parseInput(input, joinPath(at, 'input')),
    checks: checks.map((item, index) => {
      const where = `${joinPath(at, 'checks')}[${index}]`;
      const check = parseCheck(item, where);
      if (check.type === 'matches') patterns.push({ pattern: check.pattern, at: `${where}.pattern` });
      return check;
    }),
  };
}

function requireName(name: unknown, at: string): void {
  if (typeof name !== 'string') throw createRequestError(at, 'must be a string');
  if (name === '' || name.length > maxNameLength) throw createRequestError(at, `must have 1 to ${maxNameLength} characters`);
}

function parseInput(input: unknown, at: string): EvaluationCase['input'] {
  if (typeof input === 'string' && input !== '') return input;
  if (input === undefined) throw createRequestError(at, 'is required');
  if (!Array.isArray(input) || input.length === 0) throw createRequestError(at, 'must be a string or a list of messages');
  return input.map((message, index) => parseMessage(message, `${at}[${index}]`));
}

function parseCheck(value: unknown, at: string): EvaluationCheck {
  if (!isJsonObject(value)) throw createRequestError(at, 'must be an object');
  const form = forms.get(String(value.type));
  if (form === undefined) throw createRequestError(`${at}.type`, `must be one of ${[...forms.keys()].join(', ')}`);
  rejectUnknown(value, form.keys, at);
  rejectLongTexts(value, at);
  const check = requireShape<Static<(typeof checkForms)[CheckType]>>(form.shape as never, value, at);
  if (check.type === 'json_schema' && JSON.stringify(check.schema).length > maxSchemaChars)
    throw createRequestError(`${at}.schema`, `must have at most ${maxSchemaChars} characters`);
  return check;
}

function rejectLongTexts(check: JsonObject, at: string): void {
  const { properties } = checkForms[check.type as CheckType];
  for (const [key, { maxLength }] of Object.entries(properties as Record<string, { maxLength?: number }>)) {
    const expected = check[key];
    if (typeof expected === 'string' && maxLength !== undefined && expected.length > maxLength)
      throw createRequestError(`${at}.${key}`, `must have at most ${maxLength} characters`);
  }
}

function requirePatterns(patterns: readonly LocatedPattern[], where: string): void {
  if (patterns.length > caseBounds.maxPatterns)
    throw createRequestError(where, `must have at most ${caseBounds.maxPatterns} checks of the type matches`);
  if (patterns.length === 0) return;
  let current = where;
  try {
    withPatterns(({ compile }) => {
      for (const { pattern, at } of patterns) {
        current = at;
        compile(pattern);
      }
    });
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause;
    throw createRequestError(current, `must be a regular expression that RE2 accepts: ${cause.message}`);
  }
}

function rejectUnknown(value: JsonObject, knownFields: readonly string[], at: string): void {
  const unknown = Object.keys(value).find((key) => !knownFields.includes(key));
  if (unknown !== undefined)
    throw createRequestError(joinPath(at, unknown.slice(0, 64)), `is not a known field. Known fields: ${knownFields.join(', ')}`);
}

function joinPath(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}
