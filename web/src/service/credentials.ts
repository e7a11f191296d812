/** Header fields that authenticate the user. */
export type AuthHeaders = Readonly<Record<string, string>>;

/** Credentials for each request to the service. */
export interface Credentials {
  getHeaders(): Promise<AuthHeaders>;
  /** Returns whether new credentials replaced the rejected ones. */
  renew(rejected: AuthHeaders): Promise<boolean>;
}
