import type { MadeDocument } from './corpus/corpus.ts';
import type { openLibrary } from './library.ts';
import questions from './questions.json' with { type: 'json' };

const sectionsOfDocument = 50;
const wordsOfSection = 90;

/** Documents of so many passages, each of the length that passages have as a rule. */
function makeDocuments(passages: number): MadeDocument[] {
  const words = questions.flatMap(({ question }) => question.split(' '));
  const count = Math.ceil(passages / sectionsOfDocument);
  return Array.from({ length: count }, (_, nth) => {
    const sections = Array.from({ length: Math.min(sectionsOfDocument, passages - nth * sectionsOfDocument) }, (_each, part) => {
      const from = (nth * sectionsOfDocument + part) * 31;
      const text = Array.from({ length: wordsOfSection }, (_word, at) => words[(from + at) % words.length]).join(' ');
      return `## Part ${nth}.${part}\n\n${text}.\n`;
    });
    return { file: `reading-${nth}.md`, bytes: new TextEncoder().encode(`# Reading ${nth}\n\n${sections.join('\n')}`) };
  });
}

/** How long documents take until their words are found, and until their meaning is. */
export async function measureReading(library: Awaited<ReturnType<typeof openLibrary>>, passages: number): Promise<void> {
  const { indexer, embedder, store, awaitVectors } = library;
  const files = await Promise.all(makeDocuments(passages).map(store));
  const began = performance.now();
  const documents = await Promise.all(files.map((file) => indexer.want(file, embedder).done));
  const readMs = performance.now() - began;
  await awaitVectors(documents);
  const allMs = performance.now() - began;
  const total = documents.reduce((sum, document) => sum + document.passages, 0);
  const [read, all] = [readMs, allMs].map((ms) => `${(ms / 1000).toFixed(1)} s`);
  console.log(`${files.length} documents, ${total} passages: words after ${read}, vectors after ${all}`);
}
