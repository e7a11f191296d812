import type { Configuration } from '#contract/configuration/configuration.ts';
import { adminOperations } from '#surfaces/ops/api/admin-operations.ts';
import { applicationOperations } from '#surfaces/ops/api/application-operations.ts';
import { chatOperations } from '#surfaces/ops/api/chat-operations.ts';
import { consentOperations } from '#surfaces/ops/api/consent-operations.ts';
import { fileOperations } from '#surfaces/ops/api/file-operations.ts';
import { listingOperations } from '#surfaces/ops/api/listing-operations.ts';
import { mcpOperations } from '#surfaces/ops/api/mcp-operations.ts';
import { messagesOperations } from '#surfaces/ops/api/messages-operations.ts';
import type { ApiOperation } from '#surfaces/ops/api/operation.ts';
import { opsOperations } from '#surfaces/ops/api/ops-operations.ts';
import { signInOperations } from '#surfaces/ops/api/sign-in-operations.ts';

/** What `/openapi.json` lists for a configuration. */
export function apiOperations({ aliases }: Pick<Configuration, 'aliases'>): readonly ApiOperation[] {
  const prefixes = ['compat', ...aliases.compat];
  return [
    ...chatOperations(prefixes),
    ...messagesOperations(aliases.msgapi),
    ...mcpOperations,
    ...listingOperations(prefixes),
    ...consentOperations,
    ...applicationOperations,
    ...fileOperations,
    ...adminOperations,
    ...signInOperations,
    ...opsOperations,
  ];
}
