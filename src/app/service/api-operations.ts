import type { Configuration } from '#contract/configuration/configuration.ts';
import { adminOperations } from '#surfaces/admin/operations.ts';
import { adminUserOperations } from '#surfaces/admin/user-operations.ts';
import { evaluationOperations } from '#surfaces/applications/evaluation/operations.ts';
import { importOperations } from '#surfaces/applications/import-operations.ts';
import { applicationOperations } from '#surfaces/applications/operations.ts';
import { toolOperations } from '#surfaces/applications/tool-operations.ts';
import { chatOperations } from '#surfaces/chats/operations.ts';
import { shareOperations } from '#surfaces/chats/share-operations.ts';
import { compatOperations } from '#surfaces/compat/operations.ts';
import { consentOperations } from '#surfaces/consent/operations.ts';
import { featureOperations } from '#surfaces/features/operations.ts';
import { fileOperations } from '#surfaces/files/operations.ts';
import { resourceOperations } from '#surfaces/files/resources/operations.ts';
import { relocationOperations } from '#surfaces/files/resources/relocation-operations.ts';
import type { ApiOperation } from '#surfaces/http/operations/operation.ts';
import { keyOperations } from '#surfaces/keys/operations.ts';
import { addonOperations } from '#surfaces/listings/addon-operations.ts';
import { callerOperations } from '#surfaces/listings/caller-operations.ts';
import { listingOperations } from '#surfaces/listings/operations.ts';
import { schemaOperations } from '#surfaces/listings/schema-operations.ts';
import { mcpOperations } from '#surfaces/mcp/operations.ts';
import { messagesOperations } from '#surfaces/messages/operations.ts';
import { opsOperations } from '#surfaces/ops/operations.ts';
import { passThroughOperation } from '#surfaces/passthrough/operations.ts';
import { responseOperation, responsesOperations } from '#surfaces/responses/operations.ts';
import { storedOperations } from '#surfaces/responses/stored/stored-operations.ts';
import { signInOperations } from '#surfaces/ui/sign-in-operations.ts';

/** What `/openapi.json` lists for a configuration. */
export function apiOperations({ aliases }: Pick<Configuration, 'aliases'>): readonly ApiOperation[] {
  const prefixes = ['compat', ...aliases.compat];
  return [
    ...compatOperations(prefixes, passThroughOperation, responseOperation),
    ...messagesOperations(aliases.msgapi),
    ...responsesOperations(aliases.compat),
    ...storedOperations(aliases.compat),
    ...mcpOperations,
    ...listingOperations(prefixes),
    ...addonOperations(prefixes),
    ...callerOperations,
    ...keyOperations,
    ...featureOperations,
    ...consentOperations,
    ...applicationOperations,
    ...evaluationOperations,
    ...schemaOperations,
    ...importOperations,
    ...toolOperations,
    ...chatOperations,
    ...shareOperations,
    ...fileOperations,
    ...resourceOperations,
    ...relocationOperations,
    ...adminOperations,
    ...adminUserOperations,
    ...signInOperations,
    ...opsOperations,
  ];
}
