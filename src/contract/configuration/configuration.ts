import { type Static, Type } from 'typebox';
import { IdentityProviderEntry, KeyEntry, RoleEntry } from './access.ts';
import { AlertSettings } from './alerts.ts';
import { ApplicationEntry, ModelEntry } from './deployments.ts';
import { buildRecord, strict } from './fields.ts';
import { LimitResetEntry, ProjectEntry, UserEntry } from './limits.ts';
import {
  AddinSettings,
  AddonEntry,
  AliasSettings,
  ConsentSettings,
  ContextSettings,
  CounterSettings,
  EvaluationSettings,
  FileSettings,
  PageSettings,
  PromptEntry,
  RecordSettings,
  ResponsesSettings,
  RetrievalSettings,
  ScimSettings,
  SecuritySettings,
  ToolSettings,
} from './service.ts';

/** The complete configuration. Every key with a default is present after `complete`. */
export const Configuration = strict(
  {
    $schema: Type.Optional(Type.String({ description: 'Address of the JSON Schema, for editors. It has no effect.' })),
    models: buildRecord(ModelEntry, {
      by: 'id',
      default: {},
      description: 'Models by ID. `applications` use the same ID space.',
    }),
    applications: buildRecord(ApplicationEntry, {
      by: 'id',
      default: {},
      description: 'Applications by ID. `models` use the same ID space.',
    }),
    addons: buildRecord(AddonEntry, {
      by: 'name',
      default: {},
      description: 'Addons by name: OpenAPI documents whose operations a model can call.',
    }),
    prompts: buildRecord(PromptEntry, {
      by: 'name',
      default: {},
      description: 'Prompt library of the page: texts by name that users insert into a message.',
    }),
    keys: buildRecord(KeyEntry, {
      by: 'secret or name',
      default: {},
      description:
        'Client keys, by any name if the entry has `key` or `sha256`, otherwise by the secret key itself. See [Keys](keys.md).',
    }),
    roles: buildRecord(RoleEntry, {
      by: 'name',
      default: {},
      description: 'Roles by name. `default` applies to callers whose roles are not listed. See [Limits](limits.md).',
    }),
    projects: buildRecord(ProjectEntry, {
      by: 'name',
      default: {},
      description:
        'Projects by name: limits, owners, and tags. A project without an entry has no limits. See [Limits](limits.md#projects-keys-and-users).',
    }),
    users: buildRecord(UserEntry, {
      by: 'user ID',
      default: {},
      description: 'Limits of single users, by the ID that usage shows. See [Limits](limits.md#projects-keys-and-users).',
    }),
    limitResets: buildRecord(LimitResetEntry, {
      by: '`project:`, `key:`, or `user:`, and a name',
      default: {},
      description: 'Last resets of counters. `POST /v1/admin/projects/{id}/reset` writes such an entry.',
    }),
    alerts: AlertSettings,
    identityProviders: buildRecord(IdentityProviderEntry, {
      by: 'name',
      default: {},
      description: 'Token issuers by any name. See [Identity](identity.md).',
    }),
    scim: ScimSettings,
    addin: AddinSettings,
    security: SecuritySettings,
    aliases: AliasSettings,
    consent: ConsentSettings,
    retrieval: RetrievalSettings,
    tools: ToolSettings,
    context: ContextSettings,
    limits: CounterSettings,
    files: FileSettings,
    responses: ResponsesSettings,
    evaluations: EvaluationSettings,
    records: RecordSettings,
    page: PageSettings,
  },
  { description: 'Configuration of Parley.' },
);
export type Configuration = Static<typeof Configuration>;
