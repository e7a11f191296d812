/** Actions that the service writes to the audit log. The first part is the kind that the log can be filtered by. */
export type AuditAction =
  | 'application.deleted'
  | 'application.evaluated'
  | 'application.saved'
  | 'application.shared'
  | 'call.content_read'
  | 'chat.share_revoked'
  | 'chat.shared'
  | 'configuration.loaded'
  | 'configuration.refused'
  | 'consent.accepted'
  | 'consent.withdrawn'
  | 'credentials.refused'
  | 'entry.created'
  | 'entry.deleted'
  | 'entry.updated'
  | 'key.deleted'
  | 'key.made'
  | 'key.revoked'
  | 'key.rotated'
  | 'scim.group_deleted'
  | 'scim.group_saved'
  | 'scim.user_changed'
  | 'scim.user_created'
  | 'scim.user_deleted'
  | 'user.blocked'
  | 'user.unblocked';

/** First part of an action, such as `consent`. */
export type AuditKind = AuditAction extends `${infer Kind}.${string}` ? Kind : never;
