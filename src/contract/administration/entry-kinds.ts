import type { TSchema } from 'typebox';
import { IdentityProviderEntry, KeyEntry, RoleEntry } from '../configuration/access.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { ApplicationEntry, ModelEntry } from '../configuration/deployments.ts';
import { LimitResetEntry, ProjectEntry, UserEntry } from '../configuration/limits.ts';
import { AddonEntry, PromptEntry } from '../configuration/service.ts';

interface KindDescription {
  /** Section of the configuration that has the entries of this kind. */
  readonly section: keyof Configuration;
  readonly schema: TSchema;
  /** Singular name, for messages. */
  readonly name: string;
}

/** Kinds of entries that can be created at run time, by their name in paths. */
export const entryKinds = {
  models: { section: 'models', schema: ModelEntry, name: 'model' },
  applications: { section: 'applications', schema: ApplicationEntry, name: 'application' },
  addons: { section: 'addons', schema: AddonEntry, name: 'addon' },
  prompts: { section: 'prompts', schema: PromptEntry, name: 'prompt' },
  roles: { section: 'roles', schema: RoleEntry, name: 'role' },
  projects: { section: 'projects', schema: ProjectEntry, name: 'project' },
  users: { section: 'users', schema: UserEntry, name: 'user' },
  keys: { section: 'keys', schema: KeyEntry, name: 'key' },
  'identity-providers': { section: 'identityProviders', schema: IdentityProviderEntry, name: 'identity provider' },
  'limit-resets': { section: 'limitResets', schema: LimitResetEntry, name: 'limit reset' },
} as const satisfies Record<string, KindDescription>;

export type EntryKind = keyof typeof entryKinds;

/** All kinds, in the order of lists and documents. */
export const entryKindNames = Object.keys(entryKinds) as readonly EntryKind[];

export function isEntryKind(name: string): name is EntryKind {
  return Object.hasOwn(entryKinds, name);
}

/** Returns the kind of a section of the configuration. Also accepts the name of the kind. */
export function findKind(section: string): EntryKind | undefined {
  return entryKindNames.find((kind) => kind === section || entryKinds[kind].section === section);
}
