import type { Configuration } from '#contract/configuration/configuration.ts';
import { chatOperations } from '#surfaces/ops/api/chat-operations.ts';
import { listingOperations } from '#surfaces/ops/api/listing-operations.ts';
import type { ApiOperation } from '#surfaces/ops/api/operation.ts';
import { opsOperations } from '#surfaces/ops/api/ops-operations.ts';

/** What `/openapi.json` lists for a configuration. */
export function apiOperations({ aliases }: Pick<Configuration, 'aliases'>): readonly ApiOperation[] {
  const prefixes = ['compat', ...aliases.compat];
  return [...chatOperations(prefixes), ...listingOperations(prefixes), ...opsOperations];
}
