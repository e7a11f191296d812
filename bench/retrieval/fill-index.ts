import type { IndexedDocument, Passage, PassageIndex } from '#domain/tools/passage-index.ts';
import { createCorpus } from './corpus/corpus.ts';
import { Dice } from './corpus/paper.ts';

const documentCount = 20;
const wordsPerPassage = 90;
const vectorsPerBatch = 500;

interface Model {
  readonly model: string;
  readonly dimensions: number;
}

/** Fills an index with passages of corpus words and random vectors. Searching them takes as long as searching real vectors. */
export async function fillIndex(index: PassageIndex, { model, dimensions }: Model, count: number): Promise<IndexedDocument[]> {
  const dice = new Dice(7);
  const words = listCorpusWords();
  const passages = Math.ceil(count / documentCount);
  const documents: IndexedDocument[] = [];
  for (let number = 0; number < documentCount; number += 1) {
    const document = {
      id: `filler${number}`,
      title: `Filler ${number}`,
      format: 'txt',
      passageCount: passages,
      tokenCount: passages * 120,
      note: undefined,
      failure: undefined,
    };
    await index.startDocument(document.id, document.id);
    await index.addPassages(
      document,
      Array.from({ length: passages }, (_, index) => toPassage(index, words, dice)),
    );
    for (let first = 0; first < passages; first += vectorsPerBatch) {
      const size = Math.min(vectorsPerBatch, passages - first);
      await index.addVectors(
        { document: document.id, model },
        { first, count: size, vectors: toVectors(size, dimensions, dice) },
      );
    }
    await index.finishDocument(document);
    documents.push(document);
  }
  return documents;
}

function listCorpusWords(): string[] {
  const plain = createCorpus().filter(({ file }) => /\.(txt|md|csv|json)$/.test(file));
  return plain.flatMap(({ bytes }) =>
    Buffer.from(bytes)
      .toString()
      .split(/\s+/)
      .filter((word) => word.length > 1),
  );
}

function toPassage(index: number, words: readonly string[], dice: Dice): Passage {
  const text = Array.from({ length: wordsPerPassage }, () => dice.pick(words)).join(' ');
  return { nth: index, page: null, headings: [`${dice.pick(words)} ${dice.pick(words)}`], text };
}

function toVectors(count: number, dimensions: number, dice: Dice): Float32Array {
  const vectors = new Float32Array(count * dimensions);
  for (let index = 0; index < vectors.length; index += 1) vectors[index] = dice.below(2000) / 1000 - 1;
  for (let index = 0; index < count; index += 1) {
    const vector = vectors.subarray(index * dimensions, (index + 1) * dimensions);
    const length = Math.hypot(...vector);
    for (let index = 0; index < dimensions; index += 1) vector[index] = (vector[index] ?? 0) / length;
  }
  return vectors;
}
