import type { Configuration } from '#contract/configuration/configuration.ts';
import { adminOperations } from '#surfaces/admin/operations.ts';
import { applicationOperations } from '#surfaces/applications/operations.ts';
import { compatOperations } from '#surfaces/compat/operations.ts';
import { consentOperations } from '#surfaces/consent/operations.ts';
import { fileOperations } from '#surfaces/files/operations.ts';
import type { ApiOperation } from '#surfaces/http/operation.ts';
import { listingOperations } from '#surfaces/listings/operations.ts';
import { mcpOperations } from '#surfaces/mcp/operations.ts';
import { messagesOperations } from '#surfaces/messages/operations.ts';
import { opsOperations } from '#surfaces/ops/operations.ts';
import { signInOperations } from '#surfaces/ui/sign-in-operations.ts';

/** What `/openapi.json` lists for a configuration. */
export function apiOperations({ aliases }: Pick<Configuration, 'aliases'>): readonly ApiOperation[] {
  const prefixes = ['compat', ...aliases.compat];
  return [
    ...compatOperations(prefixes),
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
