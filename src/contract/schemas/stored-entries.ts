import { type TSchema, Type } from 'typebox';
import { entryKinds } from '../administration/entry-kinds.ts';
import { ApplicationAccess } from '../application-access.ts';
import { ApplicationEntry } from '../configuration/deployments.ts';
import { ConsentBody } from '../consent.ts';
import { EvaluationCase } from '../evaluation/evaluation-case.ts';
import { RatingBody } from '../features-request.ts';
import { BlockedUserBody, FirstStartBody, NewAdminKey, NewKey } from '../key-requests.ts';
import { ChatPatch, NewShare } from '../page/stored-chat.ts';
import { QuickAppForm } from '../quick-app/form.ts';
import { ConversationRecord, PermissionsRequest, PromptRecord } from '../resource-requests.ts';
import { Metadata } from '../responses/responses-request.ts';

/** A kind of entry that clients store. */
export interface StoredEntryKind {
  /** Schemas of all parts of the entry, validated on saving. */
  readonly schemas: readonly TSchema[];
  /** Maximum number of bytes of the JSON body that saves the entry. `security.maxBodyBytes` can be lower. */
  readonly maxBytes: number;
  /**
   * `fields`: the schemas limit every string, list, and object. `bytes`: the entry contains free user content, such as messages,
   * which only `maxBytes` limits.
   */
  readonly boundedBy: 'fields' | 'bytes';
}

const entrySchemas: readonly TSchema[] = Object.values(entryKinds).map(({ schema }) => schema);
const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/**
 * All kinds of entries that clients store. A test fails if a schema here lacks a limit, or if a route that writes is not listed.
 */
export const storedEntries = {
  application: { schemas: [ApplicationEntry, QuickAppForm], maxBytes: 512 * kibibyte, boundedBy: 'fields' },
  applicationAccess: { schemas: [ApplicationAccess], maxBytes: 256 * kibibyte, boundedBy: 'fields' },
  userKey: { schemas: [NewKey], maxBytes: 256 * kibibyte, boundedBy: 'fields' },
  /** An entry that an administrator creates at run time. */
  adminEntry: { schemas: entrySchemas, maxBytes: mebibyte, boundedBy: 'bytes' },
  adminKey: { schemas: [NewAdminKey], maxBytes: 256 * kibibyte, boundedBy: 'fields' },
  firstStart: { schemas: [FirstStartBody], maxBytes: 4 * kibibyte, boundedBy: 'fields' },
  /** A provisioned user or group, with attributes of its provider. */
  scimUser: { schemas: [], maxBytes: 64 * kibibyte, boundedBy: 'bytes' },
  scimGroup: { schemas: [], maxBytes: 2 * mebibyte, boundedBy: 'bytes' },
  /** A document of entries, and a change that it causes. */
  adminDocument: { schemas: entrySchemas, maxBytes: 16 * mebibyte, boundedBy: 'bytes' },
  blockedUser: { schemas: [BlockedUserBody], maxBytes: 8 * kibibyte, boundedBy: 'fields' },
  chatShare: { schemas: [NewShare], maxBytes: 256 * kibibyte, boundedBy: 'fields' },
  rating: { schemas: [RatingBody], maxBytes: 256 * kibibyte, boundedBy: 'fields' },
  consent: { schemas: [ConsentBody], maxBytes: 16 * mebibyte, boundedBy: 'fields' },
  permissions: { schemas: [PermissionsRequest], maxBytes: 16 * mebibyte, boundedBy: 'fields' },
  responseMetadata: {
    schemas: [Type.Object({ metadata: Metadata }, { additionalProperties: false })],
    maxBytes: 64 * kibibyte,
    boundedBy: 'fields',
  },
  /** One body can contain several cases. */
  evaluationCases: { schemas: [EvaluationCase], maxBytes: 8 * mebibyte, boundedBy: 'bytes' },
  prompt: { schemas: [PromptRecord], maxBytes: mebibyte, boundedBy: 'bytes' },
  conversation: { schemas: [ConversationRecord], maxBytes: 16 * mebibyte, boundedBy: 'bytes' },
  chat: { schemas: [ChatPatch], maxBytes: 16 * mebibyte, boundedBy: 'bytes' },
} as const satisfies Record<string, StoredEntryKind>;
