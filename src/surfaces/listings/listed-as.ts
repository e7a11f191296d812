import { leaveOutSecrets } from '#contract/quick-app/secrets.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { isLedByAnother } from '#domain/callers/chain.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';

/** What a listing has, and the fields by which it shows it otherwise than the rest. */
export interface ListedAs {
  readonly has: (deployment: Deployment) => boolean;
  readonly toFields: (deployment: Deployment, caller: Caller) => Readonly<Record<string, unknown>>;
}

/** The listings below each prefix, by the last segment of their paths. */
export const listedAs: Readonly<Record<string, ListedAs>> = {
  deployments: {
    has: () => true,
    toFields: ({ id, kind }) => ({ object: kind === 'model' ? 'model' : 'deployment', model: id }),
  },
  models: { has: ({ kind }) => kind === 'model', toFields: ({ id }) => ({ object: 'model', model: id }) },
  applications: {
    has: ({ kind }) => kind === 'application',
    toFields: (deployment, caller) => ({ object: 'application', application: deployment.id, ...toSettings(deployment, caller) }),
  },
};

/** `/v1/models`, which stock clients read: to them everything is a model, and `name` is what they show instead of the id. */
export const listedAsModels: ListedAs = {
  has: () => true,
  toFields: ({ id, displayName = id, displayVersion }) => ({
    object: 'model',
    name: displayVersion === undefined ? displayName : `${displayName} ${displayVersion}`,
  }),
};

/** The settings of an application of a type. Those that a user has made are shown to that user alone, except the starters of a quick app. */
function toSettings({ ofType, ownership, quickApp }: Deployment, caller: Caller): Record<string, unknown> {
  if (ofType === undefined) return {};
  const isShown = ownership === null || (ownership.owner === caller.subject && !isLedByAnother(caller));
  const properties = isShown ? leaveOutSecrets(ofType.properties) : quickApp && { starters: quickApp.starters };
  return {
    application_type_schema_id: ofType.schemaId,
    ...(properties && { application_properties: properties }),
  };
}
