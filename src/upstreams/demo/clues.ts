import { escapePattern } from '#base/escape-pattern.ts';
/** What a question gives an argument to be made of. Lists are used up from the front. */
export interface Clues {
  readonly question: string;
  /** The question without the words that one of the choices already took. */
  readonly rest: string;
  readonly numbers: number[];
  readonly quoted: string[];
  /** Capitalised words that do not begin a sentence. */
  readonly names: string[];
  readonly addresses: string[];
  readonly links: string[];
  readonly dates: string[];
  /** Words with a digit in them, such as order numbers. */
  readonly codes: string[];
}

const sentenceStart = /(^|[.!?:]\s+)["“'‘]?\p{Lu}[\p{L}’'-]*/gu;
const capitalised = /\p{Lu}[\p{L}’'.-]*(?:\s+(?:(?:de|la|of|van|von|do|da)\s+)?\p{Lu}[\p{L}’'-]*)*/gu;
// Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
const fillers = /[\s,]+(?:today|tomorrow|tonight|now|right now|please|this week|next week|at the moment)$/i;

/** The clues of a question, of which `choices` are words that mean a value of their own. */
export function findClues(question: string, choices: readonly string[]): Clues {
  const found = (pattern: RegExp): string[] => question.match(pattern) ?? [];
  const rest = choices.reduce((text, choice) => text.replace(toPattern(choice), ''), question);
  return {
    question,
    rest,
    // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
    numbers: found(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w-])/g).map(Number),
    // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
    quoted: [...question.matchAll(/"([^"]+)"|“([^”]+)”|«([^»]+)»|'([^']+)'(?!\w)/g)].map(
      (match) => match.slice(1).find(Boolean) ?? '',
    ),
    names: (rest.replaceAll(sentenceStart, '$1').match(capitalised) ?? [])
      // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
      .map((name) => name.replace(/[.'’-]+$|['’]s$/g, ''))
      .filter((name) => name !== 'I'),
    addresses: found(/[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/g),
    links: found(/https?:\/\/[^\s"'<>)]+/g),
    dates: found(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?/g),
    // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
    codes: found(/[\p{L}\d-]*\d[\p{L}\d-]*/gu),
  };
}

/** The unit or currency of an amount, as euro in "100 euro". */
export function wordAfterNumber(question: string): string | undefined {
  // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
  return question.match(/(?<![\w.-])\d[\d.,]*\s+(\p{L}+)/u)?.[1];
}

/** What somebody is to be told, as in "tell Anna that I am late". */
export function messagePhrase(question: string): string | undefined {
  // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
  return question.match(/\b(?:that|saying|says)\s+(.+?)[\s.!]*$/i)?.[1];
}

/** What follows the last preposition, as in "the weather in new york". */
export function trailingPhrase(question: string): string | undefined {
  return phraseAfter(question, 'in|for|of|at|to|from|about|on|with|near|called|named');
}

/** What follows a given word, up to the next preposition or the end. */
export function phraseAfter(question: string, words: string): string | undefined {
  // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
  const bare = question.replace(/[\s?!.]+$/, '').replace(fillers, '');
  // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
  const match = bare.match(new RegExp(`.*\\b(?:${words})\\s+(?:the\\s+)?(.+)$`, 'i'));
  // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
  return match?.[1]?.split(/\s+(?:to|from|on|at|with|and)\s+/i)[0];
}

function toPattern(choice: string): RegExp {
  const exact = escapePattern(choice);
  // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:(?:in|as|to)\\s+)?${exact}(?![\\p{L}\\p{N}])`, 'iu');
}
