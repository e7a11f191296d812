import { parseArgs } from 'node:util';
import { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { IndexedDocument, PassageHit } from '#domain/tools/passage-index.ts';
import { type PassageQuery, PassageSearch } from '#tools/retrieval/passage-search.ts';
import { createCorpus } from './corpus/corpus.ts';
import { fillIndex } from './fill-index.ts';
import { type GoldenQuestion, judge, mean, percentile, type Verdict } from './judge.ts';
import { createLanguageQuestions, makeLanguageCorpus } from './languages.ts';
import { openLibrary } from './library.ts';
import questions from './questions.json' with { type: 'json' };
import { measureReading } from './reading.ts';
import { reportThresholds } from './thresholds.ts';

const help = `npm run bench:retrieval -- [--postgres URL] [--misses] [--chunks N]
  --postgres URL  an empty database to use instead of SQLite in a temporary folder
  --languages     only the questions in four languages
  --embeddings URL  an OpenAI-compatible address that computes the vectors, such as http://127.0.0.1:9000/v1
  --reading N     only measures the time to read N passages
  --misses        prints the questions whose answers are not among the first five
  --chunks N      number of passages for the query times (default: 20000, 0: not measured)`;

const { values: flags } = parseArgs({
  options: {
    postgres: { type: 'string' },
    misses: { type: 'boolean' },
    languages: { type: 'boolean' },
    reading: { type: 'string' },
    embeddings: { type: 'string' },
    chunks: { type: 'string', default: '20000' },
    help: { type: 'boolean' },
  },
});

type SearchMethod = (search: PassageSearch, query: PassageQuery) => Promise<readonly PassageHit[]>;

const searchModes: Readonly<Record<string, SearchMethod>> = {
  'words only': (search, query) => search.searchByWords(query),
  'vectors only': async (search, query) => (await search.searchByMeaning(query)).hits,
  both: async (search, query) => (await search.search(query)).hits,
};

const signal = new AbortController().signal;
/** Default of `retrieval.minScore`. */
const usualScore = 0.2;

type Library = Awaited<ReturnType<typeof openLibrary>>;

async function measureQuality(library: Library): Promise<void> {
  const { index, indexer, embedder, store, awaitVectors } = library;
  const files = await Promise.all(createCorpus().map(store));
  const beganMs = performance.now();
  const readings = files.map((file) => ({ file, reading: indexer.requestIndexing(file, embedder) }));
  const documents = await Promise.all(readings.map(({ reading }) => reading.done));
  const readMs = performance.now() - beganMs;
  await awaitVectors(documents);
  const vectorMs = performance.now() - beganMs - readMs;
  const passages = documents.reduce((sum, document) => sum + document.passageCount, 0);
  console.log(`${files.length} documents, ${passages} passages: read in ${toSeconds(readMs)}, vectors in ${toSeconds(vectorMs)}`);
  const filesById = new Map(readings.map(({ file, reading }) => [reading.document?.id, file.path]));
  const show = async ({ document, nth: number }: PassageHit) => {
    const [passage] = await index.readRange(document, number, number + 1);
    if (passage === undefined) throw new Error('the index does not contain a passage of the result');
    return { file: filesById.get(document) ?? '', passage };
  };
  const search = new PassageSearch(
    index,
    new BoundedCache({ maxBytes: 256 * 1024 ** 2, countBytes: ({ byteLength }) => byteLength }),
  );
  for (const [name, runSearch] of Object.entries(searchModes)) {
    const verdicts: Verdict[] = [];
    for (const golden of questions as GoldenQuestion[]) {
      if (golden.answers.length === 0) continue;
      const hits = await runSearch(search, { text: golden.question, documents, embedder, signal });
      const verdict = await judge(golden, hits, show);
      verdicts.push(verdict);
      if (flags.misses === true && verdict.recallAt5 < 1) {
        const best = await Promise.all(hits.slice(0, 3).map(show));
        console.log(
          `  ${name} misses (${golden.kind}): ${golden.question} → ${golden.answers.map(({ file }) => file).join(', ')}`,
        );
        console.log(`      found ${best.map(({ file, passage }) => `${file} ${passage.headings.at(-1) ?? ''}`).join(' · ')}`);
      }
    }
    console.log(toLine(name, verdicts));
  }
  await reportUnanswerable(search, { documents, embedder });
  await reportThresholds({ search: (text) => search.search({ text, documents, embedder, signal }), show });
}

/** Reports the score of the nearest passage for questions with and without an answer. */
async function reportUnanswerable(
  search: PassageSearch,
  { documents, embedder }: Omit<PassageQuery, 'text' | 'signal'>,
): Promise<void> {
  const nearness = { answerable: [] as number[], unanswerable: [] as number[] };
  for (const { question, answers } of questions as GoldenQuestion[]) {
    const { hits } = await search.searchByMeaning({ text: question, documents, embedder, signal });
    nearness[answers.length > 0 ? 'answerable' : 'unanswerable'].push(hits[0]?.similarity ?? 0);
  }
  const summaries = Object.entries(nearness).map(([name, all]) => `${name} ${percentile(all, 0.5).toFixed(2)}`);
  console.log(`similarity of the nearest passage, median: ${summaries.join(', ')}`);
}

function toLine(name: string, verdicts: readonly Verdict[]): string {
  const kinds = [...new Set(verdicts.map(({ kind }) => kind))];
  const perKind = kinds.map((kind) => {
    const recall = mean(verdicts.filter((verdict) => verdict.kind === kind).map(({ recallAt5 }) => recallAt5));
    return `${kind} ${recall.toFixed(2)}`;
  });
  const recall = mean(verdicts.map(({ recallAt5 }) => recallAt5)).toFixed(3);
  const rank = mean(verdicts.map(({ reciprocalRank }) => reciprocalRank)).toFixed(3);
  return `${name.padEnd(14)} recall@5 ${recall}  MRR ${rank}  (${perKind.join(', ')})`;
}

async function measureSpeed({ index, embedder, dimensions }: Library, chunks: number): Promise<void> {
  const documents: IndexedDocument[] = await fillIndex(index, { model: embedder.model, dimensions }, chunks);
  const search = new PassageSearch(
    index,
    new BoundedCache({ maxBytes: 256 * 1024 ** 2, countBytes: ({ byteLength }) => byteLength }),
  );
  for (const [name, runSearch] of Object.entries(searchModes)) {
    const times: number[] = [];
    for (const [index, { question }] of questions.entries()) {
      const query = { text: question, documents, embedder, signal };
      const began = performance.now();
      await runSearch(search, query);
      if (index >= 5) times.push(performance.now() - began);
    }
    console.log(
      `${name.padEnd(14)} ${chunks} passages: p50 ${toMs(percentile(times, 0.5))}, p95 ${toMs(percentile(times, 0.95))}`,
    );
  }
}

/**
 * Reports for twenty documents in four languages how often the correct one is among the first five, and how often it is first.
 */
async function measureLanguages({ index, indexer, embedder, store, awaitVectors }: Library): Promise<void> {
  const files = await Promise.all(makeLanguageCorpus().map(store));
  const readings = files.map((file) => ({ file, reading: indexer.requestIndexing(file, embedder) }));
  const documents = await Promise.all(readings.map(({ reading }) => reading.done));
  await awaitVectors(documents);
  const filesById = new Map(readings.map(({ file, reading }) => [reading.document?.id, file.path]));
  const search = new PassageSearch(index, new BoundedCache({ maxBytes: 0, countBytes: () => 0 }));
  const cases = createLanguageQuestions();
  for (const kind of ['plain', 'code', 'across'] as const) {
    const kindCases = cases.filter((item) => item.kind === kind);
    const ranks = await Promise.all(
      kindCases.map(async ({ question, file }) => {
        const { hits } = await search.search({ text: question, documents, embedder, signal });
        const foundFiles = [
          ...new Set(hits.filter(({ score }) => score >= usualScore).map(({ document }) => filesById.get(document))),
        ];
        return foundFiles.indexOf(file);
      }),
    );
    const computeShare = (max: number) => (ranks.filter((rank) => rank >= 0 && rank < max).length / ranks.length).toFixed(2);
    console.log(`${kind.padEnd(7)} ${kindCases.length} questions: recall@5 ${computeShare(5)}, first ${computeShare(1)}`);
  }
}

function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function toMs(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}

async function run(): Promise<void> {
  const library = await openLibrary(flags.postgres, flags.embeddings);
  try {
    if (flags.reading !== undefined) return await measureReading(library, Number(flags.reading));
    await measureLanguages(library);
    if (flags.languages === true) return;
    await measureQuality(library);
    if (Number(flags.chunks) > 0) await measureSpeed(library, Number(flags.chunks));
  } finally {
    await library.close();
  }
}

if (flags.help === true) console.log(help);
else await run();
