import type { Accepted, Refused } from '#configuration/check.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { findModels, type Surroundings } from '#configuration/found-upstreams.ts';
import { adminRole, defaultRole } from '#contract/roles.ts';
import { type SampleAddress, sampleApplications } from './sample/sample-applications.ts';

/** What this start serves of its own. */
export interface Local {
  /** The one key. */
  readonly key: string;
  /** Where the tools of the sample app are; undefined where they are not to be had, and the app is left out. */
  readonly sample: SampleAddress | undefined;
}

const thisMachine = ['127.0.0.0/8', '::1'];

/** What is served where no file is named: a demonstration that needs no network and no key of anyone's, and what else is found. */
export function defaultConfiguration(surroundings: Surroundings, { key, sample }: Local): Accepted | Refused {
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
    ...(sample && { applications: sampleApplications(sample) }),
    // Whoever sees the key has started the service: what else runs on this machine is theirs.
    security: { allowPrivateNetworks: thisMachine },
    keys: { local: { project: 'local', key, roles: [defaultRole, adminRole] } },
  });
}
