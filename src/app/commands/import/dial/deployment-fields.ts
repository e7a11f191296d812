import type { JsonObject } from '#base/json/json.ts';
import { type DropReasons, type ForeignObject, toCamel } from '../foreign-object.ts';
import type { ImportContext } from '../result.ts';

/** Reason for not importing URLs for the Responses API. */
export const responsesReason = 'Parley serves the Responses API through chat completions';

/** Reasons for not importing fields of models and applications that have no counterpart in Parley. */
export const deploymentDropReasons: DropReasons = {
  name: null,
  reference: null,
  author: 'Parley does not show authors',
  createdAt: null,
  updatedAt: null,
  intro: 'Parley shows only the `description`',
  descriptionKeywords: 'Parley has no keywords',
  topics: 'Parley has no keywords',
  fieldsHashingOrder: null,
  responsesEndpoint: responsesReason,
  responsesDefaults: responsesReason,
  defaultHeaders: 'set `headers` of the upstreams, which are always sent',
  catalogSchemaId: 'Parley has no catalog',
  catalogProperties: 'Parley has no catalog',
  viewerUrl: 'Parley displays every application on its own page',
  editorUrl: 'the page edits quick apps only',
};

const sharedTextFields = ['displayName', 'displayVersion', 'iconUrl', 'description'] as const;

/** Returns the fields that models and applications share. */
export function toDeploymentFields(
  entry: ForeignObject,
  section: 'models' | 'applications',
  { notes, variables }: ImportContext,
): JsonObject {
  const common: JsonObject = {};
  const put = (key: string, value: unknown): void => {
    if (value !== undefined && value !== '') common[key] = value;
  };
  for (const key of sharedTextFields) {
    const text = entry.text(key);
    put(key, text && (key === 'iconUrl' ? variables.convertUrl(text, entry.at(key), key) : variables.escapeText(text)));
  }
  put('userRoles', toUserRoles(entry, notes));
  const features = entry.object('features');
  if (features !== undefined) put('features', toFeatures(features, variables));
  for (const key of ['defaults', 'dependencies', 'inputAttachmentTypes'] as const) {
    const value = entry.value(key);
    put(
      key,
      value === undefined ? undefined : variables.convertValue(value, entry.at(key), `${String(entry.path.at(-1))}_${key}`),
    );
  }
  put('maxInputAttachments', entry.number('maxInputAttachments'));
  put('maxRetryAttempts', entry.number('maxRetryAttempts'));
  if (entry.flag('forwardAuthToken')) {
    if (section === 'applications') put('forwardAuthToken', true);
    else
      notes.addLoss(
        entry.at('forwardAuthToken'),
        'is not imported: Parley forwards the token of a user only to applications',
        'use the per-request key that Parley sends in `Api-Key`',
      );
  }
  const interceptors = entry.texts('interceptors') ?? [];
  if (interceptors.length > 0)
    notes.addLoss(
      entry.at('interceptors'),
      'is not imported: Parley has no interceptors, so calls skip them',
      'remove the deployment if it must not be called without them',
    );
  return common;
}

/** Returns the roles. Unreadable roles close the deployment to all users instead of opening it. */
function toUserRoles(entry: ForeignObject, notes: ImportContext['notes']): readonly string[] | undefined {
  const roles = entry.value('userRoles');
  if (roles === undefined || (Array.isArray(roles) && roles.every((role) => typeof role === 'string'))) return roles;
  notes.addLoss(entry.at('userRoles'), 'is not a list of strings, so the deployment is closed to all users');
  return [];
}

/** Returns the features with their names in camel case. Their meaning is the same in both gateways. */
function toFeatures(features: ForeignObject, variables: ImportContext['variables']): JsonObject {
  const entries = features.keys().map((key): [string, unknown] => {
    const value = features.value(key);
    const path = features.at(key);
    const isAddress = typeof value === 'string' && /endpoint$/i.test(key);
    return [toCamel(key), isAddress ? variables.convertUrl(value, path, key) : variables.convertValue(value, path, key)];
  });
  return Object.fromEntries(entries);
}
