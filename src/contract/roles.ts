/** The role of a caller that names none; in the configuration it stands for every role that has no entry of its own. */
export const defaultRole = 'default';

/** The role that opens the operation of the service, and how its configured applications work. */
export const adminRole = 'admin';

/** The role that reads everything under `/v1/admin` and changes nothing. */
export const auditorRole = 'auditor';
