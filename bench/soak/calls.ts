/** The path of a chat with a deployment. */
export const chat = (deployment: string): string => `/openai/deployments/${deployment}/chat/completions`;

/** One message of about so many bytes. */
export function toMessages(index: number, bytes = 200): object {
  const content = `Question ${index}. `.padEnd(bytes, 'Some words more of it, with "quotes". ');
  return { messages: [{ role: 'user', content }] };
}

/** The statuses that are none of the expected ones. */
export function unlike(expected: readonly number[], ...statuses: readonly number[]): readonly number[] {
  return statuses.filter((status) => !expected.includes(status));
}
