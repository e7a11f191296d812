import { isJsonObject, type JsonObject, toText } from '#base/json/json.ts';
import { escapePattern } from '#base/text/find-text.ts';

interface Parameter {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

const maxDepth = 4;
const maxChoices = 200;
const questionParameter = /query|question|text|prompt|input|content|message|body|search|request|description|echo/i;
const messageParameter = /body|message|text|subject|title|note|content/;
const origins = new Set(['from', 'origin', 'source']);
const destinations = new Map([
  ['to', 'to|into|in'],
  ['target', 'to|into|in'],
  ['destination', 'to'],
  ['recipient', 'to'],
]);

/**
 * Returns arguments for a JSON Schema from the words of the question. The object has the required properties and those that the
 * question mentions.
 */
export function fillArguments(schema: JsonObject, question: string): JsonObject {
  return fillObject(schema, findClues(question, listChoices(schema)), maxDepth);
}

/** Returns whether a required argument would be a guess, because the question has no value or text for it. */
export function needsGuess(schema: JsonObject, question: string): boolean {
  const filled = fillArguments(schema, question);
  return listParameters(schema).some(({ name, schema: { const: constant, default: defaultValue, enum: values }, isRequired }) => {
    if (!isRequired || constant !== undefined || defaultValue !== undefined) return false;
    if (Array.isArray(values)) return findMentioned(values, findClues(question, [])).length === 0;
    return filled[name] === question && !questionParameter.test(name);
  });
}

/** Returns the values of the parameters with a choice. */
function listChoices(schema: JsonObject): string[] {
  const properties = isJsonObject(schema.properties) ? Object.values(schema.properties) : [];
  return properties
    .flatMap((property) => simplifySchema(property).enum ?? [])
    .filter((value): value is string => typeof value === 'string' && value !== '')
    .slice(0, maxChoices);
}

function fillObject(schema: JsonObject, clues: Clues, depthLeft: number): JsonObject {
  const filled: JsonObject = {};
  for (const parameter of listParameters(schema)) {
    const value = parameter.isRequired || isMentioned(parameter, clues) ? fill(parameter, clues, depthLeft - 1) : undefined;
    if (value !== undefined) filled[parameter.name] = value;
  }
  return filled;
}

function listParameters(schema: JsonObject): Parameter[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  return properties.map(([name, property]) => ({ name, schema: simplifySchema(property), isRequired: required.has(name) }));
}

function fill(parameter: Parameter, clues: Clues, depthLeft: number): unknown {
  const { schema } = parameter;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return findMentioned(schema.enum, clues)[0] ?? schema.default ?? schema.enum[0];
  switch (schema.type) {
    case 'integer':
    case 'number':
      return fillNumber(schema, clues);
    case 'boolean':
      return !/\b(no|not|without|don.t|never|off)\b/i.test(clues.question);
    case 'array':
      return fillArray(parameter, clues, depthLeft);
    case 'object':
      return depthLeft > 0 ? fillObject(schema, clues, depthLeft) : {};
    case 'null':
      return null;
    default:
      return fillText(parameter, clues);
  }
}

function fillNumber(schema: JsonObject, clues: Clues): unknown {
  const value = clues.numbers.shift() ?? schema.default ?? schema.minimum ?? 1;
  return schema.type === 'integer' && typeof value === 'number' ? Math.round(value) : value;
}

function fillArray({ name, schema }: Parameter, clues: Clues, depthLeft: number): unknown[] {
  const items = simplifySchema(schema.items);
  if (Array.isArray(items.enum)) return findMentioned(items.enum, clues);
  if (items.type === 'number' || items.type === 'integer') return clues.numbers.splice(0);
  if (items.type === 'object') return depthLeft > 0 ? [fillObject(items, clues, depthLeft)] : [];
  const listed = clues.quoted.length > 0 ? clues.quoted.splice(0) : clues.names.splice(0);
  return listed.length > 0 ? listed : [fillText({ name, schema: items, isRequired: true }, clues)];
}

function fillText({ name, schema }: Parameter, clues: Clues): unknown {
  const word = name.toLowerCase();
  const hint = `${word} ${toText(schema.format)}`;
  const exact =
    (/e-?mail|recipient|^to /.test(hint) ? clues.addresses.shift() : undefined) ??
    (/ur[il]|link|website/.test(hint) ? clues.links.shift() : undefined) ??
    (/date|day|time$/.test(hint) ? clues.dates.shift() : undefined) ??
    (/id$|number|code|zip/.test(word) ? clues.codes.shift() : undefined) ??
    clues.quoted.shift();
  if (exact !== undefined) return exact;
  if (schema.default !== undefined) return schema.default;
  const message = messageParameter.test(word) ? findMessagePhrase(clues.question) : undefined;
  if (message !== undefined) return message;
  if (questionParameter.test(word)) return removeCommand(clues.question);
  return findDirected(word, clues) ?? clues.names.shift() ?? findTrailingPhrase(clues.remainingText) ?? clues.remainingText;
}

/** Finds the phrase after "from" or "to" for a parameter with such a name. */
function findDirected(word: string, { remainingText }: Clues): string | undefined {
  if (origins.has(word)) return findPhraseAfter(remainingText, 'from') ?? findUnit(remainingText);
  const goal = destinations.get(word);
  return goal === undefined ? undefined : findPhraseAfter(remainingText, goal);
}

/** Returns "hello" for "echo hello". */
function removeCommand(question: string): string {
  return question.replace(/^(?:please\s+)?(?:echo|say|repeat|search(?: for)?|look up|find|ask)\b[\s:,]*(?=\S)/i, '');
}

/** An optional parameter is filled if the question names it or one of its values. */
function isMentioned({ name, schema }: Parameter, clues: Clues): boolean {
  if (Array.isArray(schema.enum)) return findMentioned(schema.enum, clues).length > 0;
  return new Set(clues.question.toLowerCase().match(/[\p{L}\p{N}]+/gu)).has(name.toLowerCase());
}

/** Returns the values that occur in the question, including plural forms. */
function findMentioned(values: readonly unknown[], clues: Clues): unknown[] {
  const question = ` ${toWords(clues.question)} `;
  return values.filter((value) => {
    const words = toWords(String(value));
    return question.includes(` ${words} `) || question.includes(` ${words}s `);
  });
}

function toWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Returns the schema with a single type. If it has several types, the first type that is not null is used. */
function simplifySchema(input: unknown): JsonObject {
  if (!isJsonObject(input)) return {};
  const options = input.anyOf ?? input.oneOf;
  const alternative = Array.isArray(options)
    ? options.find((option) => isJsonObject(option) && option.type !== 'null')
    : undefined;
  const schema = isJsonObject(alternative) ? { ...input, ...alternative } : input;
  const { type } = schema;
  return Array.isArray(type) ? { ...schema, type: type.find((name) => name !== 'null') } : schema;
}

/** Parts of a question that can become arguments. Lists are consumed from the front. */
interface Clues {
  readonly question: string;
  /** The question without the words that a choice has already used. */
  readonly remainingText: string;
  readonly numbers: number[];
  readonly quoted: string[];
  /** Capitalized words that do not start a sentence. */
  readonly names: string[];
  readonly addresses: string[];
  readonly links: string[];
  readonly dates: string[];
  /** Words with a digit, such as order numbers. */
  readonly codes: string[];
}

const sentenceStart = /(^|[.!?:]\s+)["“'‘]?\p{Lu}[\p{L}’'-]*/gu;
const capitalized = /\p{Lu}[\p{L}’'.-]*(?:\s+(?:(?:de|la|of|van|von|do|da)\s+)?\p{Lu}[\p{L}’'-]*)*/gu;
// Pattern bound: `splitQuestion` limits a question to 600 characters.
const fillers = /[\s,]+(?:today|tomorrow|tonight|now|right now|please|this week|next week|at the moment)$/i;

/** Returns the clues of a question. `choices` are the values that parameters allow. */
function findClues(question: string, choices: readonly string[]): Clues {
  const findAll = (pattern: RegExp): string[] => question.match(pattern) ?? [];
  const remainingText = choices.reduce((text, choice) => text.replace(toPattern(choice), ''), question);
  return {
    question,
    remainingText,
    // Pattern bound: `splitQuestion` limits a question to 600 characters.
    numbers: findAll(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w-])/g).map(Number),
    // Pattern bound: `splitQuestion` limits a question to 600 characters.
    quoted: [...question.matchAll(/"([^"]+)"|“([^”]+)”|«([^»]+)»|'([^']+)'(?!\w)/g)].map(
      (match) => match.slice(1).find(Boolean) ?? '',
    ),
    names: (remainingText.replaceAll(sentenceStart, '$1').match(capitalized) ?? [])
      // Pattern bound: `splitQuestion` limits a question to 600 characters.
      .map((name) => name.replace(/[.'’-]+$|['’]s$/g, ''))
      .filter((name) => name !== 'I'),
    addresses: findAll(/[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/g),
    links: findAll(/https?:\/\/[^\s"'<>)]+/g),
    dates: findAll(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?/g),
    // Pattern bound: `splitQuestion` limits a question to 600 characters.
    codes: findAll(/[\p{L}\d-]*\d[\p{L}\d-]*/gu),
  };
}

/** Finds the unit or currency of an amount, such as euro in "100 euro". */
function findUnit(question: string): string | undefined {
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  return question.match(/(?<![\w.-])\d[\d.,]*\s+(\p{L}+)/u)?.[1];
}

/** Finds the message in a question such as "tell Anna that I am late". */
function findMessagePhrase(question: string): string | undefined {
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  return question.match(/\b(?:that|saying|says)\s+(.+?)[\s.!]*$/i)?.[1];
}

/** Finds the text after the last preposition, as in "the weather in new york". */
function findTrailingPhrase(question: string): string | undefined {
  return findPhraseAfter(question, 'in|for|of|at|to|from|about|on|with|near|called|named');
}

/** Finds the text after one of the prepositions, up to the next preposition or the end. */
function findPhraseAfter(question: string, prepositions: string): string | undefined {
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  const bare = question.replace(/[\s?!.]+$/, '').replace(fillers, '');
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  const match = bare.match(new RegExp(`.*\\b(?:${prepositions})\\s+(?:the\\s+)?(.+)$`, 'i'));
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  return match?.[1]?.split(/\s+(?:to|from|on|at|with|and)\s+/i)[0];
}

function toPattern(choice: string): RegExp {
  const exact = escapePattern(choice);
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:(?:in|as|to)\\s+)?${exact}(?![\\p{L}\\p{N}])`, 'iu');
}
