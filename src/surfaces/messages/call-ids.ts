const functionCallPrefix = 'fcall_';

/** The id of a call that came as `function_call`, which has none of its own; the result is given back in that form. */
export function toFunctionCallId(messageId: string): string {
  return `${functionCallPrefix}${messageId}`;
}

export function isFunctionCallId(id: string): boolean {
  return id.startsWith(functionCallPrefix);
}
