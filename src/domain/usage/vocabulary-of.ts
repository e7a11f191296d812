import type { Vocabulary } from '#base/text/tokens.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import type { Deployment } from '../deployments/deployment.ts';

const newer = /^(?:ft:)?(?:openai\/)?(?:gpt-(?:4o|4\.1|4\.5|[5-9])|chatgpt|o[1-9](?:-|$))/i;
const older = /^(?:ft:)?(?:openai\/)?gpt-(?:4|3\.5|35)/i;

/** The vocabulary that a model counts tokens with, by the upstream's own name of it; undefined if nobody knows, or its upstreams differ. */
export function vocabularyOf({ upstreams }: Pick<Deployment, 'upstreams'>): Vocabulary | undefined {
  const found = new Set(upstreams.map(({ protocol, model }) => protocols[protocol].vocabulary ?? byName(model)));
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

function byName(model: string): Vocabulary | undefined {
  if (newer.test(model)) return 'o200k_base';
  return older.test(model) ? 'cl100k_base' : undefined;
}
