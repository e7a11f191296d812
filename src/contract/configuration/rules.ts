import { findDeploymentIssues } from './deployment-rules.ts';
import { findAlertIssues } from './find-alert-issues.ts';
import type { Issue } from './issue.ts';
import {
  findAddinIssues,
  findAliasIssues,
  findIdentityProviderIssues,
  findKeyIssues,
  findLimitResetIssues,
  findPageIssues,
  findRetrievalIssues,
} from './service-rules.ts';

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
    ...findRetrievalIssues(configuration),
  ];
}
