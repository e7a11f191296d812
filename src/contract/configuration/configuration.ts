import { type Static, Type } from 'typebox';
import { IdentityProviderEntry, KeyEntry, RoleEntry } from './access.ts';
import { ApplicationEntry, ModelEntry } from './deployments.ts';
import { buildRecord, strict } from './fields.ts';
import {
  AddinSettings,
  AddonEntry,
  AliasSettings,
  ConsentSettings,
  ContextSettings,
  EvaluationSettings,
  FileSettings,
  LimitSettings,
  PageSettings,
  ResponsesSettings,
  RetrievalSettings,
  SecuritySettings,
  ToolSettings,
} from './service.ts';

/** The whole configuration. Every key with a default is there once `complete` has run. */
export const Configuration = strict(
  {
    $schema: Type.Optional(Type.String({ description: 'Address of the JSON Schema, for editors. It has no effect.' })),
    models: buildRecord(ModelEntry, { by: 'id', default: {}, description: 'Models by id. Ids are shared with `applications`.' }),
    applications: buildRecord(ApplicationEntry, {
      by: 'id',
      default: {},
      description: 'Applications by id. Ids are shared with `models`.',
    }),
    addons: buildRecord(AddonEntry, { by: 'name', default: {}, description: 'Addons by name.' }),
    keys: buildRecord(KeyEntry, {
      by: 'secret or name',
      default: {},
      description: 'Keys of callers, by the secret key itself or, where the entry has `key` or `sha256`, by any name.',
    }),
    roles: buildRecord(RoleEntry, {
      by: 'name',
      default: {},
      description: 'Roles by name; `default` holds for callers whose roles are not listed here.',
    }),
    identityProviders: buildRecord(IdentityProviderEntry, {
      by: 'name',
      default: {},
      description: 'Issuers of tokens by any name.',
    }),
    addin: AddinSettings,
    security: SecuritySettings,
    aliases: AliasSettings,
    consent: ConsentSettings,
    retrieval: RetrievalSettings,
    tools: ToolSettings,
    context: ContextSettings,
    limits: LimitSettings,
    files: FileSettings,
    responses: ResponsesSettings,
    evaluations: EvaluationSettings,
    page: PageSettings,
  },
  { description: 'Configuration of Parley.' },
);
export type Configuration = Static<typeof Configuration>;
