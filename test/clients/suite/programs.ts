import type { Cell } from './cells.ts';

/**
 * Go, Java, or the Python environment of a program. `newest` has the newest versions of most clients. The other Python
 * environments exist because their clients require older versions of some packages.
 */
export type Runtime = 'newest' | 'openai-two' | 'instructor' | 'go' | 'java';

export interface Program {
  /** File in the folder of its language, without the extension. */
  readonly name: string;
  readonly runtime: Runtime;
  /** Each client of the program, with the cells that the client cannot run and the reasons. */
  readonly clients: Readonly<Record<string, Partial<Record<Cell, string>>>>;
}

const structuredOnly = {
  whole: 'it only produces structured output',
  tools: 'it only produces structured output',
  parallel: 'it only produces structured output',
  cancel: 'it returns no parts of a text that could be canceled',
};

/** Programs of the suite in the order of the table. */
export const programs: readonly Program[] = [
  { name: 'openai_cells', runtime: 'newest', clients: { openai: {}, 'openai Azure': {}, 'openai Azure v1': {} } },
  { name: 'anthropic_cells', runtime: 'newest', clients: { anthropic: {} } },
  {
    name: 'langchain_cells',
    runtime: 'newest',
    clients: { 'langchain OpenAI': {}, 'langchain Azure': {}, 'langchain Anthropic': {} },
  },
  { name: 'openai_agents_cells', runtime: 'newest', clients: { 'openai-agents': {} } },
  { name: 'pydantic_ai_cells', runtime: 'newest', clients: { 'pydantic-ai OpenAI': {}, 'pydantic-ai Anthropic': {} } },
  { name: 'litellm_cells', runtime: 'openai-two', clients: { litellm: {}, 'litellm Azure': {} } },
  { name: 'llama_index_cells', runtime: 'openai-two', clients: { 'llama-index OpenAILike': {}, 'llama-index Azure': {} } },
  {
    name: 'instructor_cells',
    runtime: 'instructor',
    clients: { 'instructor tools': structuredOnly, 'instructor JSON schema': structuredOnly },
  },
  { name: 'autogen_cells', runtime: 'newest', clients: { autogen: {} } },
  { name: 'aidial_client_cells', runtime: 'openai-two', clients: { 'aidial-client': {} } },
  { name: 'openai', runtime: 'go', clients: { 'openai-go': {}, 'openai-go Azure': {} } },
  { name: 'anthropic', runtime: 'go', clients: { 'anthropic-sdk-go': {} } },
  {
    name: 'OpenaiCells',
    runtime: 'java',
    clients: { 'openai-java': {}, 'openai-java Azure': {}, 'openai-java Azure v1': {} },
  },
  { name: 'Langchain4jCells', runtime: 'java', clients: { 'langchain4j OpenAI': {}, 'langchain4j Anthropic': {} } },
];
