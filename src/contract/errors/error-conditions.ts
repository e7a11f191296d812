/** Reported token counts of an input that is longer than the model accepts. */
export interface ContextOverflow {
  readonly limit?: number;
  readonly actual?: number;
}

const contextCodes = [
  'context_length_exceeded',
  'context_window_exceeded',
  'string_above_max_length',
  'model_max_length_exceeded',
] as const;

/** HTTP status of the error types and codes of all dialects, for errors that arrive without a status. */
const statuses: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ...contextCodes.map((code) => [code, 400] as const),
  ['invalid_request_error', 400],
  ['invalid_request', 400],
  ['invalid_prompt', 400],
  ['invalid_image', 400],
  ['invalid_image_format', 400],
  ['invalid_base64_image', 400],
  ['invalid_image_url', 400],
  ['image_too_large', 400],
  ['image_too_small', 400],
  ['image_parse_error', 400],
  ['image_content_policy_violation', 400],
  ['content_policy_violation', 400],
  ['content_filter', 400],
  ['cyber_policy', 400],
  ['bio_policy', 400],
  ['unsupported_parameter', 400],
  ['unsupported_value', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['model_not_found', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['usage_limit_reached', 429],
  ['overloaded_error', 503],
  ['server_overloaded', 503],
  ['server_is_overloaded', 503],
  ['slow_down', 503],
  ['timeout_error', 504],
  ['vector_store_timeout', 504],
  ['api_error', 500],
  ['server_error', 500],
  ['internal_server_error', 500],
  ['upstream_error', 500],
]);

// Pattern bound: codes of this file, which have no special characters.
const contextCodePattern = new RegExp(`^(?:${contextCodes.join('|')})$`, 'i');
const contextWordsPattern =
  /maximum context length|maximum prompt length|context (length|window|size)|(prompt|input) (is )?too (long|large)|request (is )?too long|too many (input )?tokens|(input|prompt) (token count|tokens|length).{0,40}exceed|exceeds? the (maximum|max|available|allowed|model's).{0,40}(token|context)|reduce the length/i;
/** Maximum number of characters of a message that are searched. */
const maxSearchedChars = 2000;
const limitPatterns = [
  // Pattern bound: a message of at most 2,000 characters, and no match starts inside a number.
  /(?<![\d,])(\d[\d,]*) (?:tokens )?max/i,
  /(?:maximum|max|limit|context (?:size|length|window))\D{0,60}(\d[\d,]*)/i,
];

/** Returns the HTTP status of an error type or code, or undefined if it is unknown. */
export function getStatusOfCode(name: unknown): number | undefined {
  return statuses.get(name);
}

/** Returns whether the code of an upstream is a known one. A response then reports it unchanged. */
export function isKnownCode(code: string | null): code is string {
  return statuses.has(code);
}

/** Detects a context overflow from the code or the message of an error. Returns undefined if the error has another reason. */
export function readContextOverflow(code: string | null, message: string): ContextOverflow | undefined {
  const text = message.slice(0, maxSearchedChars);
  if (!contextCodePattern.test(code ?? '') && !contextWordsPattern.test(text)) return undefined;
  const limit = limitPatterns.map((form) => toCount(form.exec(text)?.[1])).find((count) => count !== undefined);
  if (limit === undefined) return {};
  const counts = [...text.matchAll(/(?<![\w.-])\d[\d,]*/g)].map(([count]) => toCount(count));
  const actual = counts.find((count) => count !== undefined && count > limit);
  return { limit, ...(actual !== undefined && { actual }) };
}

function toCount(text: string | undefined): number | undefined {
  const count = Number(text?.replaceAll(',', ''));
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}
