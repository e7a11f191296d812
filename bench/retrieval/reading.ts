import type { CorpusDocument } from './corpus/corpus.ts';
import type { openLibrary } from './library.ts';
import questions from './questions.json' with { type: 'json' };

const sectionsOfDocument = 50;
const wordsOfSection = 90;

/** Creates documents with this number of passages of the usual length. */
function makeDocuments(passages: number): CorpusDocument[] {
  const words = questions.flatMap(({ question }) => question.split(' '));
  const count = Math.ceil(passages / sectionsOfDocument);
  return Array.from({ length: count }, (_, index) => {
    const sections = Array.from(
      { length: Math.min(sectionsOfDocument, passages - index * sectionsOfDocument) },
      (_each, part) => {
        const from = (index * sectionsOfDocument + part) * 31;
        const text = Array.from({ length: wordsOfSection }, (_word, index) => words[(from + index) % words.length]).join(' ');
        return `## Part ${index}.${part}\n\n${text}.\n`;
      },
    );
    return { file: `reading-${index}.md`, bytes: new TextEncoder().encode(`# Reading ${index}\n\n${sections.join('\n')}`) };
  });
}

/** Measures how long it takes until the words of documents are searchable, and until their vectors are. */
export async function measureReading(library: Awaited<ReturnType<typeof openLibrary>>, passages: number): Promise<void> {
  const { indexer, embedder, store, awaitVectors } = library;
  const files = await Promise.all(makeDocuments(passages).map(store));
  const beganMs = performance.now();
  const documents = await Promise.all(files.map((file) => indexer.requestIndexing(file, embedder).done));
  const readMs = performance.now() - beganMs;
  await awaitVectors(documents);
  const allMs = performance.now() - beganMs;
  const total = documents.reduce((sum, document) => sum + document.passageCount, 0);
  const [readSeconds, all] = [readMs, allMs].map((ms) => `${(ms / 1000).toFixed(1)} s`);
  console.log(`${files.length} documents, ${total} passages: words after ${readSeconds}, vectors after ${all}`);
}
