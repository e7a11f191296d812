import type { FastifyInstance } from 'fastify';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { ApplicationStore } from '#domain/deployments/application-store.ts';
import type { BlockedUsers } from '#services/callers/blocked-users.ts';
import type { UserKeys } from '#services/callers/user-keys.ts';
import type { StoredResources } from '#services/files/stored-resources.ts';
import type { InFlightCalls } from '#services/node/in-flight-calls.ts';
import type { InputMemory } from '#services/node/input-memory.ts';
import type { GroupRoles } from '#services/scim/group-roles.ts';
import type { People } from '#services/scim/people.ts';
import type { ChatCompletionDeps } from '#surfaces/chat-completions/routes.ts';
import type { ApiOperation } from '#surfaces/http/openapi/operation.ts';
import type { RequestHandler } from '#surfaces/http/request-handler.ts';
import type { ServeRaw } from '#surfaces/http/serve-raw.ts';
import type { CallPipeline, CompleteServiceDeps } from './compose-calls.ts';

/** Parts of the service that features use. */
export interface Core extends CompleteServiceDeps, CallPipeline {
  readonly app: FastifyInstance;
  readonly identify: Identify;
  readonly handler: RequestHandler;
  readonly inFlightCalls: InFlightCalls;
  readonly inputMemory: InputMemory;
  /** Undefined if the service stores no keys of users. */
  readonly userKeys: UserKeys | undefined;
  /** Undefined if the service stores no keys of users. */
  readonly blockedUsers: BlockedUsers | undefined;
  /** Undefined if the service stores no provisioned users. */
  readonly groupRoles: GroupRoles | undefined;
  /** Undefined if the service does not store who has signed in. */
  readonly people: People | undefined;
  /** Returns whether calls that this caller started must end, because its key is no longer valid or its user is blocked. */
  readonly hasLostAccess: (caller: Caller) => boolean;
  /** Undefined if the service stores no files. */
  readonly storedResources: StoredResources | undefined;
  /** Applications that users save. Deleting one also deletes its files. */
  readonly savedApplications: ApplicationStore;
  /** Aliases in the configuration at the start of the process. */
  readonly aliases: Configuration['aliases'];
  /** Seconds since the epoch at which this service started. */
  readonly createdSeconds: number;
  /** Handlers of `POST /v1/deployments/{id}/{name}` by name. Features add theirs. */
  readonly deploymentActions: Map<string, ServeRaw>;
  /** Handlers of further APIs on the paths of deployments. The chat completions route calls them, and features set theirs. */
  readonly deploymentApis: { responses?: ChatCompletionDeps['serveResponses'] };
}

/** One feature: its part of the API description, and the routes, services, and stores behind it. Features do not use each other. */
export interface Feature {
  /** Returns the operations of the feature in `/openapi.json`. */
  readonly operations?: (aliases: Configuration['aliases']) => readonly ApiOperation[];
  /** Adds the routes of the feature, and closes its services with the server. */
  readonly add: (core: Core) => void;
}

/** Returns `compat` and its aliases: the prefixes of the OpenAI-compatible paths. */
export function listChatCompletionPrefixes({ compat }: Configuration['aliases']): readonly string[] {
  return ['compat', ...compat];
}
