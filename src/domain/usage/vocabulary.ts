import type { Vocabulary } from '#base/text/tokens.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import type { Deployment } from '../deployments/deployment.ts';

const newerModels = /^(?:ft:)?(?:openai\/)?(?:gpt-(?:4o|4\.1|4\.5|[5-9])|chatgpt|o[1-9](?:-|$))/i;
const olderModels = /^(?:ft:)?(?:openai\/)?gpt-(?:4|3\.5|35)/i;

/**
 * Returns the vocabulary of a model's tokenizer by the name of the model at the upstream. Returns undefined if it is unknown or
 * if the upstreams differ.
 */
export function findVocabulary({ upstreams }: Pick<Deployment, 'upstreams'>): Vocabulary | undefined {
  const vocabularies = new Set(upstreams.map(({ protocol, model }) => protocols[protocol].vocabulary ?? findByName(model)));
  const [only] = vocabularies;
  return vocabularies.size === 1 ? only : undefined;
}

function findByName(model: string): Vocabulary | undefined {
  if (newerModels.test(model)) return 'o200k_base';
  return olderModels.test(model) ? 'cl100k_base' : undefined;
}

/**
 * Maximum tokens per character by kind. All common vocabularies stay within it, except for text that is constructed to exceed
 * it.
 */
const perLetter = 0.31;
const perSpace = 0.2;
const perDigit = 0.55;
const perPunctuation = 0.8;
const perLineBreak = 0.6;
const perAccented = 1;
const perOther = 1.5;
/** Tokens per change of character kind within a word. Base64 and similar text has many changes. */
const perChange = 0.9;

/** Kinds of ASCII characters. A character has the first kind whose pattern matches. */
const kindPatterns = [/[a-z]/, /[A-Z]/, /\d/, /[\n\r]/, /\s/, /./];
/** Costs of the kinds, by their position in `kindPatterns`. */
const costs = [perLetter, perLetter, perDigit, perLineBreak, perSpace, perPunctuation];
const [smallLetter, capital, lastWordKind] = [0, 1, 2];
/** Kind of every other character. */
const otherKind = costs.length;
const kinds = Uint8Array.from({ length: 128 }, (_, code) =>
  kindPatterns.findIndex((pattern) => pattern.test(String.fromCharCode(code))),
);

/** Returns a high estimate of the tokens of a text, for models whose vocabulary is unknown. */
export function estimateTokensHigh(text: string): number {
  let tokens = 0;
  let previousKind = otherKind;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const kind = kinds[code] ?? otherKind;
    tokens += costs[kind] ?? (code < 0x800 ? perAccented : perOther);
    // A capital followed by a small letter is the usual start of a word, so it does not count as a change.
    const isWordStart = previousKind === capital && kind === smallLetter;
    if (kind !== previousKind && Math.max(kind, previousKind) <= lastWordKind && !isWordStart) tokens += perChange;
    previousKind = kind;
  }
  return Math.ceil(tokens);
}
