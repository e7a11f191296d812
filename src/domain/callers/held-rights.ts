export const permissions = ['READ', 'WRITE'] as const;
export type Permission = (typeof permissions)[number];

/** Access to a stored resource that a per-request key gives to a deployment. It applies to calls made with that key. */
export interface Grant {
  /** ID of the deployment. */
  readonly receiver: string;
  /** URL as `toUrl` returns it. A trailing slash includes all resources below it. */
  readonly url: string;
  readonly permissions: readonly Permission[];
}

/**
 * A change of rights. `attached` lists references of files that the reply of an inner call attached. The call may read these
 * files from now on.
 */
export type RightsChange =
  | { readonly attached: readonly string[] }
  | { readonly grant: readonly Grant[] }
  | { readonly revoke: readonly Grant[] };

/** References of the files that a call may read, by origin. */
export interface NamedFiles {
  /** Files that the user named, or that an application with its own right to read them named. Every inner call inherits them. */
  readonly files: Iterable<string>;
  /**
   * Files named by any other source, such as an assistant message, the result of a tool, or the reply to an inner call. An
   * application may have written the reference to make another user send it. For that reason, a call chain with an application
   * that another user saved does not inherit them.
   */
  readonly assistantFiles: Iterable<string>;
}

/** Rights of a new key. */
export interface InitialRights extends Partial<NamedFiles> {
  /**
   * Grants from the calling application. Inner calls do not inherit them, so the receiver must grant them again to pass them
   * on.
   */
  readonly received?: readonly Grant[];
  readonly granted?: readonly Grant[];
}

/** Maximum number of grants per key. */
export const maxGrants = 1000;
const maxAssistantFiles = 2000;

/**
 * Rights to stored resources that a per-request key has in addition to those of its application, and the grants for deployments
 * that it calls. They end with the key.
 */
export class HeldRights {
  readonly files: ReadonlySet<string>;
  readonly #assistantFiles: Set<string>;
  readonly received: readonly Grant[];
  readonly #granted = new Map<string, Grant>();
  #onChange: (change: RightsChange) => Promise<void> = async () => undefined;

  constructor({ files = [], assistantFiles = [], received = [], granted = [] }: InitialRights = {}) {
    this.files = new Set(files);
    this.#assistantFiles = new Set(assistantFiles);
    this.received = received;
    this.#grant(granted);
  }

  get assistantFiles(): ReadonlySet<string> {
    return this.#assistantFiles;
  }

  get granted(): readonly Grant[] {
    return [...this.#granted.values()];
  }

  /** Returns whether the named files, attached files, or grants allow an operation. */
  allows(permission: Permission, url: string): boolean {
    return this.#allowsWithoutAssistant(permission, url) || (permission === 'READ' && this.#assistantFiles.has(url));
  }

  /** Returns whether a file is readable only because a source other than the user named it (`NamedFiles.assistantFiles`). */
  isAssistantOnly(url: string): boolean {
    return this.#assistantFiles.has(url) && !this.#allowsWithoutAssistant('READ', url);
  }

  #allowsWithoutAssistant(permission: Permission, url: string): boolean {
    if (permission === 'READ' && this.files.has(url)) return true;
    return this.received.some((grant) => grant.permissions.includes(permission) && covers(grant.url, url));
  }

  /** Sets the listener that each change waits for before it resolves. */
  onChange(listener: (change: RightsChange) => Promise<void>): void {
    this.#onChange = listener;
  }

  /** Changes the rights immediately on this node. Resolves when all nodes have the change. Rejects with `StoreError`. */
  change(change: RightsChange): Promise<void> {
    if ('attached' in change) this.#attach(change.attached);
    else if ('grant' in change) this.#grant(change.grant);
    else this.#revoke(change.revoke);
    return this.#onChange(change);
  }

  #attach(references: readonly string[]): void {
    for (const reference of references) if (this.#assistantFiles.size < maxAssistantFiles) this.#assistantFiles.add(reference);
  }

  #grant(grants: readonly Grant[]): void {
    for (const grant of grants) {
      const existing = this.#granted.get(toKey(grant))?.permissions ?? [];
      this.#granted.set(toKey(grant), { ...grant, permissions: [...new Set([...existing, ...grant.permissions])] });
    }
  }

  #revoke(grants: readonly Grant[]): void {
    for (const grant of grants) {
      const key = toKey(grant);
      const remaining = this.#granted.get(key)?.permissions.filter((permission) => !grant.permissions.includes(permission)) ?? [];
      if (remaining.length === 0) this.#granted.delete(key);
      else this.#granted.set(key, { ...grant, permissions: remaining });
    }
  }
}

/**
 * Returns the rights of a called deployment. Without `namedFiles`, they cover the files that the user named. Grants are
 * included, except for files that the grantor can read only because an assistant message named them. A grant does not change
 * the origin of a right.
 */
export function createReceiverRights(
  receiver: string,
  chain: { readonly rights: HeldRights } | null,
  namedFiles: Partial<NamedFiles> = { files: chain?.rights.files ?? [] },
): HeldRights {
  const granted = chain?.rights.granted ?? [];
  const received = granted.filter((grant) => grant.receiver === receiver && chain?.rights.isAssistantOnly(grant.url) !== true);
  return new HeldRights({ ...namedFiles, received });
}

function covers(granted: string, url: string): boolean {
  return granted === url || (granted.endsWith('/') && url.startsWith(granted));
}

function toKey({ receiver, url }: Grant): string {
  return JSON.stringify([receiver, url]);
}
