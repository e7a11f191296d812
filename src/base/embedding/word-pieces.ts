import { parseJson, toObject } from '../json/json.ts';

/** Longer words become the unknown token. */
const maxWordChars = 100;
const ignoredCharacter = /[\p{C}\uFFFD]/gu;
const ideograph =
  /[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B820}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu;
/** Matches words and single punctuation characters. */
const wordOrPunctuation = /[\p{P}$+<=>^`|~]|[^\s\p{P}$+<=>^`|~]+/gu;

/** Reads the pieces and their IDs from a tokenizer file. */
export function readVocabulary(json: string): ReadonlyMap<string, number> {
  const file = parseJson(json);
  const { vocab } = toObject(toObject(file).model);
  return new Map(Object.entries(toObject(vocab)).map(([piece, id]) => [piece, Number(id)]));
}

/** Tokenizer of an uncased BERT model. Splits texts into word pieces and returns their IDs. */
export class WordPieces {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #unknown: number;

  /** `vocabulary` maps pieces to IDs. Pieces that continue a word start with `##`. */
  constructor(vocabulary: ReadonlyMap<string, number>) {
    this.#ids = vocabulary;
    this.#unknown = vocabulary.get('[UNK]') ?? 0;
  }

  /** Returns at most `maxPieces` IDs, including the special tokens for start and end. */
  tokenize(text: string, maxPieces: number): number[] {
    const [startId = 0, endId = 0] = [this.#ids.get('[CLS]'), this.#ids.get('[SEP]')];
    const ids = [startId];
    for (const [word] of normalize(text).matchAll(wordOrPunctuation)) {
      if (ids.length >= maxPieces) break;
      ids.push(...this.#tokenizeWord(word));
    }
    return [...ids.slice(0, maxPieces - 1), endId];
  }

  /** Matches the longest piece first. A word with an unknown piece becomes the unknown token. */
  #tokenizeWord(word: string): number[] {
    const characters = [...word];
    if (characters.length > maxWordChars) return [this.#unknown];
    const ids: number[] = [];
    for (let from = 0; from < characters.length; ) {
      let to = characters.length;
      let id: number | undefined;
      for (; to > from && id === undefined; to -= 1)
        id = this.#ids.get(`${from > 0 ? '##' : ''}${characters.slice(from, to).join('')}`);
      if (id === undefined) return [this.#unknown];
      ids.push(id);
      from = to + 1;
    }
    return ids;
  }
}

function normalize(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\t\n\r]/g, ' ')
    .replace(ignoredCharacter, '')
    .replace(ideograph, ' $& ')
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
}
