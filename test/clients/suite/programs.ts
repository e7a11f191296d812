import type { Cell } from './cells.ts';

/** What a program runs on; the Python ones have an environment each, because their clients want other versions of one another. */
export type Runtime = 'newest' | 'openai-two' | 'instructor' | 'go' | 'java';

export interface Program {
  /** Its file in the folder of its language, without the ending. */
  readonly name: string;
  readonly runtime: Runtime;
  /** Each client that it runs, with the cells that this client has no way to try and why. */
  readonly clients: Readonly<Record<string, Partial<Record<Cell, string>>>>;
}

/** Every program of the suite, those that take longest first. */
export const programs: readonly Program[] = [
  { name: 'openai_cells', runtime: 'newest', clients: { openai: {}, 'openai Azure': {}, 'openai Azure v1': {} } },
  {
    name: 'langchain_cells',
    runtime: 'newest',
    clients: { 'langchain OpenAI': {}, 'langchain Azure': {}, 'langchain Anthropic': {} },
  },
  { name: 'anthropic_cells', runtime: 'newest', clients: { anthropic: {} } },
  {
    name: 'OpenaiCells',
    runtime: 'java',
    clients: { 'openai-java': {}, 'openai-java Azure': {}, 'openai-java Azure v1': {} },
  },
  { name: 'openai', runtime: 'go', clients: { 'openai-go': {}, 'openai-go Azure': {} } },
  { name: 'anthropic', runtime: 'go', clients: { 'anthropic-sdk-go': {} } },
];
