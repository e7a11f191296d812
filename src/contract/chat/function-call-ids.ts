const functionCallPrefix = 'fcall_';

/**
 * Returns the id of a call that came as `function_call`, which has no id: the result returns as a `function` message. `reply` is
 * unique to the reply.
 */
export function toFunctionCallId(reply: string): string {
  return `${functionCallPrefix}${reply}`;
}

export function isFunctionCallId(id: string): boolean {
  return id.startsWith(functionCallPrefix);
}
