import { type Static, Type } from 'typebox';
import { ApplicationEntry } from './configuration/deployments.ts';

/** Maximum number of roles, and of users, of one application. Each has its own row in the store. */
export const maxSharedWith = 100;

const { userRoles, users } = ApplicationEntry.properties;

/** Body of a request that replaces who may use a saved application. */
export const ApplicationAccess = Type.Object(
  {
    roles: { ...userRoles, description: 'Roles that can see and call the application. Empty: none.' },
    users: { ...users, description: 'IDs of users who can see and call the application. Empty: none.' },
  },
  { required: ['roles', 'users'], additionalProperties: false },
);
export type ApplicationAccess = Static<typeof ApplicationAccess>;
