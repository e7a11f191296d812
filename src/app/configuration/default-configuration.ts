import type { Accepted, Refused } from './check.ts';
import { checkConfiguration } from './check.ts';
import { findModels, type Surroundings } from './found-upstreams.ts';

/** What is served where no file is named: a demonstration that needs no network and no key of anyone's, and what else is found. */
export function defaultConfiguration(surroundings: Surroundings, localKey: string): Accepted | Refused {
  return checkConfiguration({
    models: {
      demo: {
        displayName: 'Demo',
        description: 'Answers by rules, without a language model and without a network.',
        upstreams: [{ protocol: 'demo' }],
      },
      'demo-embeddings': { type: 'embedding', displayName: 'Demo embeddings', upstreams: [{ protocol: 'demo' }] },
      ...findModels(surroundings),
    },
    keys: { local: { project: 'local', key: localKey } },
  });
}
