import { type Comparing, compare } from './compare.ts';
import { wantsArgument } from './fill-arguments.ts';
import type { OfferedTool } from './read-tools.ts';
import { countShared, countWords, shorten, stems } from './words.ts';

export interface ToolScore {
  readonly tool: OfferedTool;
  /** From -1 to about 1.1. */
  readonly score: number;
}

/**
 * Measured with MiniLM over 16 tools and 32 questions (pick-tool.test.ts): the weakest right pair has 0.30, the strongest
 * wrong one 0.27.
 */
export const leastScore = 0.29;
const sharedWordBonus = 0.08;
const namedScore = 1.1;
const longestDescription = 300;
// Pattern bound: a name and 300 characters of a description.
const looksThingsUp = /\b(search|query|retriev\w*|look(s|ing)? up|find|documents?|knowledge)\b/i;
const isAsking = /\?\s*$|^(who|what|when|where|which|why|how|find|search|look up|explain|summari[sz]e|according)\b/i;

/** The tools by how well they fit the question, best first. */
export async function scoreTools(question: string, tools: readonly OfferedTool[], comparing: Comparing): Promise<ToolScore[]> {
  const similarities = await compare(question, tools.map(toText), comparing);
  const asked = stems(question);
  return tools
    .map((tool, index) => {
      const bonus = countShared(asked, stems(toText(tool))) > 0 ? sharedWordBonus : 0;
      const score = question.includes(tool.name) && tool.name.includes('_') ? namedScore : (similarities[index] ?? 0) + bonus;
      return { tool, score };
    })
    .sort((one, other) => other.score - one.score);
}

/**
 * The tool to call, if any: the best that is near enough. For a question that nothing is near to, or that does not have what
 * the nearest must be told, one that looks things up.
 */
export function fittingTool(question: string, scores: readonly ToolScore[]): OfferedTool | undefined {
  const [best] = scores;
  const near = best !== undefined && best.score >= leastScore ? best.tool : undefined;
  if (!isAsking.test(question) || (near !== undefined && !wantsArgument(near.parameters, question))) return near;
  return scores.find(({ tool }) => looksThingsUp.test(toText(tool)))?.tool ?? near;
}

/** Several questions in one, such as "What is the weather in Paris and what time is it in Tokyo?"; else the question alone. */
export function splitClauses(question: string): string[] {
  const clauses = question
    // Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
    .split(/\?\s+|;\s+|[.]\s+|,?\s+and\s+(?:then\s+|also\s+)?/i)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
  const areWhole = clauses.length > 1 && clauses.length <= 4 && clauses.every((clause) => countWords(clause) >= 3);
  return areWhole ? clauses : [question];
}

function toText({ name, description }: OfferedTool): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
  return `${words.toLowerCase()}: ${shorten(description, longestDescription)}`;
}
