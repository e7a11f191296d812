import type { Vocabulary } from '#base/text/tokens.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import type { Deployment } from '../deployments/deployment.ts';

const newerModels = /^(?:ft:)?(?:openai\/)?(?:gpt-(?:4o|4\.1|4\.5|[5-9])|chatgpt|o[1-9](?:-|$))/i;
const olderModels = /^(?:ft:)?(?:openai\/)?gpt-(?:4|3\.5|35)/i;

/**
 * Returns the vocabulary of a model's tokenizer by the name of the model at the upstream. Returns undefined if it is unknown or
 * if the upstreams differ.
 */
export function findVocabulary({ upstreams }: Pick<Deployment, 'upstreams'>): Vocabulary | undefined {
  const vocabularies = new Set(upstreams.map(({ protocol, model }) => protocols[protocol].vocabulary ?? findByName(model)));
  const [only] = vocabularies;
  return vocabularies.size === 1 ? only : undefined;
}

function findByName(model: string): Vocabulary | undefined {
  if (newerModels.test(model)) return 'o200k_base';
  return olderModels.test(model) ? 'cl100k_base' : undefined;
}
