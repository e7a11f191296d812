import { deploymentFaults } from './deployment-rules.ts';
import type { Issue } from './issue.ts';
import { addinFaults, aliasFaults, findKeyIssues, identityProviderFaults, pageFaults, retrievalFaults } from './service-rules.ts';

/**
 * Returns faults that the schema cannot express. Accepts any value, so that these faults are reported together with those of the
 * schema.
 */
export function findRuleIssues(configuration: unknown): readonly Issue[] {
  return [
    ...deploymentFaults(configuration),
    ...findKeyIssues(configuration),
    ...identityProviderFaults(configuration),
    ...aliasFaults(configuration),
    ...addinFaults(configuration),
    ...pageFaults(configuration),
    ...retrievalFaults(configuration),
  ];
}
