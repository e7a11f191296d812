import type { PassageSearch, ScoredHit } from '#tools/retrieval/passage-search.ts';
import { type GoldenQuestion, judge, mean } from './judge.ts';
import questions from './questions.json' with { type: 'json' };

/** Codes, setting names, and four-digit numbers, which a question must match exactly. */
const codePattern = /\p{L}[\p{L}-]*\d|\d[\d.-]*\p{L}{1,2}\b|\d{4}|\p{L}[._]\p{L}/u;
const thresholds = [0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4];

interface RankedQuestion {
  readonly golden: GoldenQuestion;
  readonly hits: readonly ScoredHit[];
}

export interface PassageAccess {
  readonly search: (text: string) => ReturnType<PassageSearch['search']>;
  readonly show: Parameters<typeof judge>[2];
}

/** Prints for each minimum score the recall of answerable questions and the number of unanswerable questions without a result. */
export async function reportThresholds({ search, show }: PassageAccess): Promise<void> {
  const all: RankedQuestion[] = [];
  for (const golden of questions as GoldenQuestion[]) all.push({ golden, hits: (await search(golden.question)).hits });
  const answerable = all.filter(({ golden }) => golden.answers.length > 0);
  const unanswerable = all.filter(({ golden }) => golden.answers.length === 0);
  const recall = async (cases: readonly RankedQuestion[], minScore: number): Promise<number> => {
    const verdicts = cases.map(({ golden, hits }) =>
      judge(
        golden,
        hits.filter(({ score }) => score >= minScore),
        show,
      ),
    );
    return mean((await Promise.all(verdicts)).map(({ recallAt5 }) => recallAt5));
  };
  const withCode = answerable.filter(({ golden }) => codePattern.test(golden.question));
  const without = answerable.filter((item) => !withCode.includes(item));
  for (const [name, group] of Object.entries({ 'with a code': withCode, without }))
    console.log(`${name}: ${group.length} questions, recall@5 ${(await recall(group, 0)).toFixed(3)}`);
  for (const minScore of thresholds) {
    const silentCount = unanswerable.filter(({ hits }) => !hits.some(({ score }) => score >= minScore)).length;
    const passageCount = mean(unanswerable.map(({ hits }) => hits.slice(0, 12).filter(({ score }) => score >= minScore).length));
    const recallText = (await recall(answerable, minScore)).toFixed(3);
    const summary = `no passage for ${silentCount} of ${unanswerable.length} without an answer, ${passageCount.toFixed(1)} passages to one of them`;
    console.log(`minScore ${minScore.toFixed(2)}: recall@5 ${recallText}, ${summary}`);
  }
}
