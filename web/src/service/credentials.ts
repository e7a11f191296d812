/** Header fields that tell the service who asks. */
export type Shown = Readonly<Record<string, string>>;

/** What the page shows the service with each request. */
export interface Credentials {
  show(): Promise<Shown>;
  /** Whether there are others now in the place of those that were refused. */
  renew(refused: Shown): Promise<boolean>;
}
