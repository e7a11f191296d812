/** Role of callers that have no role. In the configuration, it also applies to every role without an entry. */
export const defaultRole = 'default';

/** Role that permits operating the service and reading the settings of configured applications. */
export const adminRole = 'admin';

/** Role of a key that an identity provider uses to provision users and groups. */
export const scimRole = 'scim';

/** Role that permits reading everything under `/v1/admin` without changing it. */
export const auditorRole = 'auditor';
