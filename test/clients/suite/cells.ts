/** What each program tries with each deployment. */
export const cells = ['whole', 'stream', 'tools', 'parallel', 'structured', 'image', 'usage', 'errors', 'cancel'] as const;

export type Cell = (typeof cells)[number];

/** What each program tries it with, by id, and how the table calls it. */
export const deployments = {
  gpt: 'model with an OpenAI upstream',
  claude: 'model with an Anthropic upstream',
  sdk: 'SDK application',
  quick: 'quick app',
} as const;

export type Deployment = keyof typeof deployments;

export const deploymentIds = Object.keys(deployments) as readonly Deployment[];

/** One line of a program's output. */
export interface Outcome {
  readonly client: string;
  readonly deployment: Deployment;
  readonly cell: Cell;
  readonly ok: boolean;
  /** What the client saw, or why it failed. */
  readonly seen: string;
}

/** Written behind each prompt, so that the upstream tells whose request it got: `(openai/gpt/whole)`. */
export function toMark({ client, deployment, cell }: Pick<Outcome, 'client' | 'deployment' | 'cell'>): string {
  return `(${client}/${deployment}/${cell})`;
}
