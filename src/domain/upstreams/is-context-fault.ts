import { ParleyError } from '#contract/errors.ts';

/** Codes and words of vendors and of programs that serve models, for a request that is longer than the model takes. */
const codes =
  /^(context_length_exceeded|context_window_exceeded|string_above_max_length|request_too_large|model_max_length_exceeded)$/i;
const words =
  /maximum context length|context (length|window|size)|(prompt|input|request) (is )?too (long|large)|too many (input )?tokens|(input|prompt) (token count|tokens|length).{0,40}exceed|exceeds? the (maximum|max|available|allowed|model's).{0,40}(token|context|length)|reduce the length/i;

/** Whether a model refused a request since it is too long for it. */
export function isContextFault(thrown: unknown): boolean {
  if (!(thrown instanceof ParleyError) || (thrown.status !== 400 && thrown.status !== 413 && thrown.status !== 422)) return false;
  return codes.test(thrown.shownCode ?? '') || words.test(thrown.message);
}
