import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import type { Usage } from '#contract/chat/chunk.ts';
import { maxTokensPerCall, toCount } from './usage.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Names of the objects that contain a count, followed by the name of the count. */
type Path = readonly string[];

/** Names of the counts that every usage has. The second names come from the Responses API. */
const promptNames = ['prompt_tokens', 'input_tokens'];
const completionNames = ['completion_tokens', 'output_tokens'];

/** A detail, and its alternative locations in order of preference. */
interface Detail {
  readonly container: 'prompt_tokens_details' | 'completion_tokens_details';
  readonly field: string;
  readonly aliases: readonly Path[];
  /** Parts whose sum is the detail if it is not reported. */
  readonly parts?: readonly (readonly Path[])[];
}

/** Fields of a usage without details, as most local servers report it. */
const plainFields: ReadonlySet<string> = new Set([...promptNames, ...completionNames, 'total_tokens']);

/** Locations at which LiteLLM reports the cache durations of written tokens, under Anthropic's names. */
const splitPaths: readonly Path[] = [
  ['cache_creation'],
  ['prompt_tokens_details', 'cache_creation_token_details'],
  ['input_tokens_details', 'cache_creation_token_details'],
];

const cacheReads: Detail = {
  container: 'prompt_tokens_details',
  field: 'cached_tokens',
  aliases: [
    ['input_tokens_details', 'cached_tokens'],
    ['prompt_cache_hit_tokens'], // DeepSeek
    ['cached_tokens'], // Moonshot
    ['num_cached_tokens'], // Mistral
    ['prompt_token_details', 'cached_tokens'], // Mistral
    ['cache_read_input_tokens'], // LiteLLM, with these tokens included in the prompt
  ],
};

const cacheWrites: Detail = {
  container: 'prompt_tokens_details',
  field: 'cache_write_tokens',
  aliases: [
    ['input_tokens_details', 'cache_write_tokens'],
    ['prompt_tokens_details', 'cache_creation_tokens'], // LiteLLM
    ['cache_creation_input_tokens'], // LiteLLM
  ],
  parts: splitPaths.map((path) => [
    [...path, 'ephemeral_5m_input_tokens'],
    [...path, 'ephemeral_1h_input_tokens'],
  ]),
};

/** The written tokens that are cached for an hour instead of 5 minutes. */
const cacheWritesForHour: Detail = {
  container: 'prompt_tokens_details',
  field: 'cache_write_1h_tokens',
  aliases: splitPaths.map((path) => [...path, 'ephemeral_1h_input_tokens']),
};

const reasoning: Detail = {
  container: 'completion_tokens_details',
  field: 'reasoning_tokens',
  aliases: [['output_tokens_details', 'reasoning_tokens'], ['reasoning_tokens']],
};

/** The details with all their locations. A location with several paths contains the sum of their counts. */
const details = [cacheReads, cacheWrites, cacheWritesForHour, reasoning].map(({ container, field, aliases, parts = [] }) => ({
  container,
  field,
  locations: [...aliases.map((alias) => [alias]), ...parts],
}));

/**
 * Returns the usage of a chunk or a completion in the chat dialect, if any. Moonshot reports it inside the last choice of a
 * stream.
 */
export function findUsage({ usage, choices }: { readonly usage?: unknown; readonly choices?: unknown }): Usage | undefined {
  if (isJsonObject(usage)) return toUsage(usage);
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) if (isJsonObject(choice?.usage)) return toUsage(choice.usage);
  return undefined;
}

/**
 * Returns usage in normalized form: integer counts, total = prompt + completion, and details under the names of the Chat
 * Completions API. Keeps unknown fields. Returns the same object if it is already normalized, and undefined if counts are
 * missing or invalid.
 */
export function toUsage(reported: JsonObject): Usage | undefined {
  const counts = { prompt: findCount(reported, promptNames), completion: findCount(reported, completionNames) };
  if (counts.prompt === undefined && counts.completion === undefined) return undefined;
  if (!isValidCount(counts.prompt) || !isValidCount(counts.completion)) return undefined;
  const prompt_tokens = toCount(counts.prompt);
  const reportedCompletion = toCount(counts.completion);
  const changes: Record<string, JsonObject> = {};
  let extraReasoning = 0;
  if (hasDetails(reported)) {
    for (const detail of details) addDetail(changes, reported, detail);
    extraReasoning = countReasoningOnTop({ ...reported, ...changes }, prompt_tokens + reportedCompletion);
  }
  const completion_tokens = reportedCompletion + extraReasoning;
  const usageCounts = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  const isSame = Object.entries(usageCounts).every(([name, count]) => reported[name] === count);
  if (isSame && Object.keys(changes).length === 0) return reported as Usage;
  return { ...reported, ...usageCounts, ...changes };
}

function hasDetails(reported: JsonObject): boolean {
  for (const field in reported) if (!plainFields.has(field)) return true;
  return false;
}

/** Adds a detail that is reported only at an alternative location. */
function addDetail(
  changes: Record<string, JsonObject>,
  reported: Fields,
  { container, field, locations }: (typeof details)[number],
): void {
  if (toCount(readPath(reported, [container, field])) > 0) return;
  for (const paths of locations) {
    const count = paths.reduce((sum, path) => sum + toCount(readPath(reported, path)), 0);
    if (count === 0) continue;
    const current = changes[container] ?? reported[container];
    changes[container] = { ...toObject(current), [field]: count };
    return;
  }
}

/** Returns the number of reasoning tokens that only the total contains, as xAI reports them. */
function countReasoningOnTop(usage: Fields, sum: number): number {
  const tokens = toCount(readPath(usage, [reasoning.container, reasoning.field]));
  return tokens > 0 && toCount(usage.total_tokens) - sum === tokens ? tokens : 0;
}

function readPath(fields: Fields, path: Path): unknown {
  let value: unknown = fields;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

function findCount(fields: Fields, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number') return value;
  }
  return undefined;
}

function isValidCount(count: number | undefined): boolean {
  return count === undefined || (count >= 0 && count <= maxTokensPerCall);
}
