/** Returns the path of a chat with a deployment. */
export const getChatPath = (deployment: string): string => `/openai/deployments/${deployment}/chat/completions`;

/** Creates a request with one message of about this size in bytes. */
export function toMessages(index: number, bytes = 200): object {
  const content = `Question ${index}. `.padEnd(bytes, 'Some words more of it, with "quotes". ');
  return { messages: [{ role: 'user', content }] };
}

/** Returns the unexpected statuses. */
export function findUnexpected(expected: readonly number[], ...statuses: readonly number[]): readonly number[] {
  return statuses.filter((status) => !expected.includes(status));
}
