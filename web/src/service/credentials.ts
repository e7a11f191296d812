/** Header fields that tell the service who asks. */
export type AuthHeaders = Readonly<Record<string, string>>;

/** What the page shows the service with each request. */
export interface Credentials {
  getHeaders(): Promise<AuthHeaders>;
  /** Whether there are others now in the place of those that were refused. */
  renew(rejected: AuthHeaders): Promise<boolean>;
}
