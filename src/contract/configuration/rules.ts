import { findDeploymentIssues } from './checks/deployment-rules.ts';
import { findAlertIssues } from './checks/find-alert-issues.ts';
import {
  findAddinIssues,
  findAliasIssues,
  findIdentityProviderIssues,
  findKeyIssues,
  findLimitResetIssues,
  findPageIssues,
  findRecordIssues,
  findRetrievalIssues,
} from './checks/service-rules.ts';
import type { Issue } from './issue.ts';

/**
 * Returns errors that the schema cannot express. Accepts any value, so that these errors are reported together with those of the
 * schema.
 */
export function findRuleIssues(configuration: unknown): readonly Issue[] {
  return [
    ...findDeploymentIssues(configuration),
    ...findKeyIssues(configuration),
    ...findIdentityProviderIssues(configuration),
    ...findLimitResetIssues(configuration),
    ...findAlertIssues(configuration),
    ...findAliasIssues(configuration),
    ...findAddinIssues(configuration),
    ...findPageIssues(configuration),
    ...findRecordIssues(configuration),
    ...findRetrievalIssues(configuration),
  ];
}
