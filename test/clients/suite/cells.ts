/** Cells that each program runs with each deployment. */
export const cells = ['whole', 'stream', 'tools', 'parallel', 'structured', 'image', 'usage', 'errors', 'cancel'] as const;

export type Cell = (typeof cells)[number];

/** Deployments by ID, with their names in the table. */
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
  /** Output of the client, or the reason for its failure. */
  readonly seen: string;
}

/** Appended to each prompt, so that the upstream can identify the request: `(openai/gpt/whole)`. */
export function toMark({ client, deployment, cell }: Pick<Outcome, 'client' | 'deployment' | 'cell'>): string {
  return `(${client}/${deployment}/${cell})`;
}
