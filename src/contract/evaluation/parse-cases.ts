import type { Static, TSchema } from 'typebox';
import { isJsonObject, type JsonObject, parseJson } from '#base/json/json.ts';
import { PatternError, withPatterns } from '#base/text/patterns.ts';
import { parseMessage } from '../chat/parse-message.ts';
import { createRequestError, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { type CheckType, caseBounds, checkForms, type EvaluationCase, type EvaluationCheck } from './evaluation-case.ts';

const forms = new Map(
  Object.entries(checkForms).map(([type, form]) => [
    type,
    { shape: compileShape(form as TSchema), keys: Object.keys(form.properties) },
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

/** Parses a list of cases. `path` is empty for the body. Throws `invalid_request`. */
export function parseList(list: readonly unknown[], path: string): readonly EvaluationCase[] {
  const subject = path === '' ? 'The body' : path;
  if (list.length === 0) throw createRequestError(subject, 'must have at least one case');
  if (list.length > caseBounds.maxCases) throw createRequestError(subject, `must have at most ${caseBounds.maxCases} cases`);
  if (JSON.stringify(list).length > caseBounds.maxCharsOfAll)
    throw createRequestError(subject, `must have at most ${caseBounds.maxCharsOfAll} characters of JSON`);
  const patterns: LocatedPattern[] = [];
  const cases = list.map((item, index) => readCase(item, `${path}[${index}]`, patterns));
  requirePatterns(patterns, subject);
  return cases;
}

interface LocatedPattern {
  readonly pattern: string;
  readonly path: string;
}

/** Parses one case and converts its values to plain JSON. `path` is empty for the body. Throws `invalid_request`. */
export function parseCase(value: unknown, path = ''): EvaluationCase {
  const patterns: LocatedPattern[] = [];
  const parsed = readCase(value, path, patterns);
  requirePatterns(patterns, path || 'The body');
  return parsed;
}

/** Parses a stored case. Its patterns are compiled only on use. Throws `invalid_request`. */
export function parseStoredCase(value: unknown): EvaluationCase {
  return readCase(value, '', []);
}

/** Parses a case and collects its patterns, so that all patterns of a body are compiled within one time limit. */
function readCase(value: unknown, path: string, patterns: LocatedPattern[]): EvaluationCase {
  if (!isJsonObject(value)) throw createRequestError(path || 'The body', 'must be an object with input and checks');
  rejectUnknown(value, caseKeys, path);
  const text = JSON.stringify(value);
  if (text.length > caseBounds.maxChars)
    throw createRequestError(path || 'The body', `must have at most ${caseBounds.maxChars} characters of JSON`);
  // Numbers can be in their original notation, so the text is parsed again.
  const { name, input, checks = [] } = parseJson(text) as JsonObject;
  if (name !== undefined && name !== null) requireName(name, joinPath(path, 'name'));
  if (!Array.isArray(checks)) throw createRequestError(joinPath(path, 'checks'), 'must be an array');
  if (checks.length > caseBounds.maxChecks)
    throw createRequestError(joinPath(path, 'checks'), `must have at most ${caseBounds.maxChecks} items`);
  return {
    ...(typeof name === 'string' && { name }),
    input: parseInput(input, joinPath(path, 'input')),
    checks: checks.map((item, index) => {
      const checkPath = `${joinPath(path, 'checks')}[${index}]`;
      const check = parseCheck(item, checkPath);
      if (check.type === 'matches') patterns.push({ pattern: check.pattern, path: `${checkPath}.pattern` });
      return check;
    }),
  };
}

function requireName(name: unknown, path: string): void {
  if (typeof name !== 'string') throw createRequestError(path, 'must be a string');
  if (name === '' || name.length > maxNameLength) throw createRequestError(path, `must have 1 to ${maxNameLength} characters`);
}

function parseInput(input: unknown, path: string): EvaluationCase['input'] {
  if (typeof input === 'string' && input !== '') return input;
  if (input === undefined) throw createRequestError(path, 'is required');
  if (!Array.isArray(input) || input.length === 0) throw createRequestError(path, 'must be a string or a list of messages');
  return input.map((message, index) => parseMessage(message, `${path}[${index}]`));
}

function parseCheck(value: unknown, path: string): EvaluationCheck {
  if (!isJsonObject(value)) throw createRequestError(path, 'must be an object');
  const form = forms.get(String(value.type));
  if (form === undefined) throw createRequestError(`${path}.type`, `must be one of ${[...forms.keys()].join(', ')}`);
  rejectUnknown(value, form.keys, path);
  rejectLongTexts(value, path);
  const check = requireShape<Static<(typeof checkForms)[CheckType]>>(form.shape as never, value, path);
  if (check.type === 'json_schema' && JSON.stringify(check.schema).length > maxSchemaChars)
    throw createRequestError(`${path}.schema`, `must have at most ${maxSchemaChars} characters`);
  return check;
}

function rejectLongTexts(check: JsonObject, path: string): void {
  const { properties } = checkForms[check.type as CheckType];
  for (const [key, { maxLength }] of Object.entries(properties as Record<string, { maxLength?: number }>)) {
    const expected = check[key];
    if (typeof expected === 'string' && maxLength !== undefined && expected.length > maxLength)
      throw createRequestError(`${path}.${key}`, `must have at most ${maxLength} characters`);
  }
}

function requirePatterns(patterns: readonly LocatedPattern[], subject: string): void {
  if (patterns.length > caseBounds.maxPatterns)
    throw createRequestError(subject, `must have at most ${caseBounds.maxPatterns} checks of the type matches`);
  if (patterns.length === 0) return;
  let current = subject;
  try {
    withPatterns(({ compile }) => {
      for (const { pattern, path } of patterns) {
        current = path;
        compile(pattern);
      }
    });
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause;
    throw createRequestError(current, `must be a regular expression that RE2 accepts: ${cause.message}`);
  }
}

function rejectUnknown(value: JsonObject, knownFields: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((key) => !knownFields.includes(key));
  if (unknown !== undefined)
    throw createRequestError(
      joinPath(path, unknown.slice(0, 64)),
      `is not a known field. Known fields: ${knownFields.join(', ')}`,
    );
}

function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
