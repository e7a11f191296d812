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
const perSign = 0.8;
const perLineBreak = 0.6;
const perAccented = 1;
const perOther = 1.5;
/** Tokens per change of character kind within a word. Base64 and similar text has many changes. */
const perChange = 0.9;

const kinds = new Uint8Array(128);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  kinds[code] = /[a-z]/.test(character)
    ? 1
    : /[A-Z]/.test(character)
      ? 2
      : /\d/.test(character)
        ? 3
        : /[\n\r]/.test(character)
          ? 4
          : /\s/.test(character)
            ? 5
            : 6;
}
const costs = [0, perLetter, perLetter, perDigit, perLineBreak, perSpace, perSign];

/** Returns a high estimate of the tokens of a text, for models whose vocabulary is unknown. */
export function estimateHigh(text: string): number {
  let tokens = 0;
  let previousKind = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const kind = code < 128 ? (kinds[code] ?? 0) : 0;
    tokens += kind > 0 ? (costs[kind] ?? 0) : code < 0x800 ? perAccented : perOther;
    // A capital followed by a small letter is the usual start of a word, so it does not count as a change.
    if (
      kind !== previousKind &&
      kind > 0 &&
      kind < 4 &&
      previousKind > 0 &&
      previousKind < 4 &&
      !(previousKind === 2 && kind === 1)
    )
      tokens += perChange;
    previousKind = kind;
  }
  return Math.ceil(tokens);
}
