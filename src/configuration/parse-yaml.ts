import {
  type Document,
  type DocumentOptions,
  isScalar,
  LineCounter,
  parseDocument,
  type SchemaOptions,
  stringify,
  type Tags,
  visit,
  type YAMLError,
} from 'yaml';
import type { ParsedText, TextError } from './parsed-text.ts';

/** Messages by error code, or by error message if the code is too general. */
const messages: ReadonlyMap<string, string> = new Map([
  ['ALIAS_PROPS', 'an alias cannot have an anchor or a tag'],
  ['BAD_ALIAS', 'this alias has an invalid name'],
  ['BAD_DIRECTIVE', 'this directive is not known'],
  ['BAD_DQ_ESCAPE', 'this escape is not valid in YAML'],
  ['BAD_INDENT', 'the indentation is wrong here, or a bracket before it is not closed'],
  ['BLOCK_AS_IMPLICIT_KEY', 'this line has an extra colon. Put the value in quotes'],
  ['BLOCK_IN_FLOW', 'this form is not allowed within brackets or braces'],
  ['MISSING_CHAR', 'a character is missing here, such as a colon, a quote or a bracket'],
  ['MULTIPLE_DOCS', 'a second document starts here, but a file must contain only one'],
  ['MULTILINE_IMPLICIT_KEY', 'a key must be on one line, followed by a colon'],
  ['NON_STRING_KEY', 'a key must be a plain word or a string'],
  ['Sequence item without - indicator', 'the indentation is wrong here, or a dash is missing'],
  ['TAB_AS_INDENT', 'use spaces instead of tabs for indentation'],
  ['TAG_RESOLVE_FAILED', 'tags are not supported'],
  ['UNEXPECTED_TOKEN', 'this is not expected here'],
]);

const indentationMessages = {
  list: 'the indentation of this list is wrong, or its key has a value already',
  deeper:
    'this line is indented as a continuation of the value above it, but contains a key. Indent it like the other keys, or put the value in quotes',
} as const;

const maxAliases = 1000;

/**
 * Parses YAML 1.2 with the core schema and without other tags. The value is undefined for an empty text. Returns only the first
 * syntax error.
 */
export function parseYaml(text: string): ParsedText {
  return parseDialect(text, { schema: 'core', version: '1.2' }, 100);
}

/** Returns a value as YAML that `parseYaml` reads. */
export function formatYaml(value: unknown): string {
  return stringify(value, { schema: 'core', version: '1.2', lineWidth: 0, aliasDuplicateObjects: false });
}

/** Parses YAML 1.1 as PyYAML does, with merge keys, `yes`, and `1_000`. Dates stay strings. */
export function parseOldYaml(text: string): ParsedText {
  const customTags = (tags: Tags) => tags.filter(isPlain);
  return parseDialect(text, { schema: 'yaml-1.1', version: '1.1', merge: true, customTags }, 10_000);
}

/** Returns whether a tag does not convert a text such as 2024-10-21 or 12:30 to another type. */
function isPlain(tag: Tags[number]): boolean {
  return typeof tag === 'string' || (!tag.tag.endsWith(':timestamp') && tag.format !== 'TIME');
}

type Dialect = Pick<DocumentOptions & SchemaOptions, 'schema' | 'version' | 'merge' | 'customTags'>;

function parseDialect(text: string, dialect: Dialect, maxAliasCount: number): ParsedText {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    ...dialect,
    resolveKnownTags: false,
    stringKeys: true,
    // The parser compares each key with all previous keys. `findDuplicateKeys` uses a lookup instead.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter,
  });
  const problems = [...document.errors, ...document.warnings];
  const errors = [
    ...findFirstProblem(problems),
    ...findDuplicateKeys(document),
    ...(problems.length === 0 ? findInvalidAlias(document) : []),
  ].map(({ offset, message }): TextError => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col, message };
  });
  if (errors.length > 0) return { errors };
  try {
    return { value: document.toJS({ maxAliasCount }) ?? undefined };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { errors: [{ line: 1, column: 1, message: `aliases expand to more than ${maxAliasCount} values` }] };
  }
}

/** Finds duplicate keys in each object. The merge key can repeat. */
function findDuplicateKeys(document: Document.Parsed): readonly Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Map(_key, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const isDuplicate = keys.has(key.value) && key.value !== '<<';
        if (isDuplicate) problems.push({ offset: key.range?.[0] ?? 0, message: 'this key is a duplicate' });
        keys.add(key.value);
      }
    },
  });
  return problems;
}

/**
 * Finds the first alias without an anchor, or the first alias over the limit. The limit exists because the parser resolves each
 * alias with a search through all previous nodes.
 */
function findInvalidAlias(document: Document.Parsed): readonly Problem[] {
  const problems: Problem[] = [];
  const anchors = new Set<string>();
  let aliases = 0;
  visit(document, {
    Value(_key, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor);
    },
    Alias(_key, { source, range }) {
      aliases += 1;
      const isKnown = anchors.has(source);
      if (isKnown && aliases <= maxAliases) return undefined;
      const message = isKnown ? `there are more than ${maxAliases} aliases` : 'this alias has no anchor before it';
      problems.push({ offset: range?.[0] ?? 0, message });
      return visit.BREAK;
    },
  });
  return problems;
}

interface Problem {
  readonly offset: number;
  readonly message: string;
}

function toProblem({ code, message, pos }: YAMLError): Problem {
  return { offset: pos[0], message: messages.get(message) ?? messages.get(code) ?? 'this is not YAML' };
}

/**
 * The parser treats a line with wrong indentation as part of a multi-line key. It first reports the end of the previous value, so
 * this function corrects the position and the message.
 */
function findFirstProblem([first, second]: readonly YAMLError[]): readonly Problem[] {
  if (first === undefined) return [];
  if (first.code !== 'BLOCK_AS_IMPLICIT_KEY' || second?.code !== 'MULTILINE_IMPLICIT_KEY') return [toProblem(first)];
  const isText = second.pos[0] === first.pos[0];
  return [
    isText
      ? { offset: second.pos[1], message: indentationMessages.deeper }
      : { offset: second.pos[0], message: indentationMessages.list },
  ];
}
