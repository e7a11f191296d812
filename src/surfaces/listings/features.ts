import { isHttpUrl } from '#contract/configuration/values.ts';
import { supportsTools } from '#domain/deployments/abilities.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';

/** How listings call the features of the configuration that only announce something. */
const announced: Readonly<Record<string, string>> = {
  systemPromptSupported: 'system_prompt',
  toolsSupported: 'tools',
  reasoningSupported: 'reasoning',
  seedSupported: 'seed',
  urlAttachmentsSupported: 'url_attachments',
  folderAttachmentsSupported: 'folder_attachments',
  allowResume: 'allow_resume',
  accessibleByPerRequestKey: 'accessible_by_per_request_key',
};

/** What is served at paths below the deployment, by the feature that has the address of an application for it. */
const served: Readonly<Record<string, readonly [name: string, isServedWithout: (deployment: Deployment) => boolean]>> = {
  rateEndpoint: ['rate', () => true],
  tokenizeEndpoint: ['tokenize', ({ kind }) => kind === 'model'],
  truncatePromptEndpoint: ['truncate_prompt', ({ kind, type }) => kind === 'model' && type === 'chat'],
  configurationEndpoint: ['configuration', ({ quickApp }) => quickApp !== undefined],
};

/** The features of a deployment as listings show them: no addresses, and those that clients ask for as booleans (docs/wire.md, Listings). */
export function toListedFeatures(deployment: Deployment): Record<string, unknown> {
  const { features } = deployment;
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(features)) if (!isKnown(key) && !isAddress(value)) shown[key] = value;
  for (const [key, [name, isServedWithout]] of Object.entries(served))
    shown[name] = features[key] !== undefined || isServedWithout(deployment);
  for (const [key, name] of Object.entries(announced)) shown[name] = features[key];
  shown.tools ??= supportsTools(deployment);
  return shown;
}

function isKnown(key: string): boolean {
  return Object.hasOwn(announced, key) || Object.hasOwn(served, key);
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && isHttpUrl(value);
}
