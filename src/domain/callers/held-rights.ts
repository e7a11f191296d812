export const permissions = ['READ', 'WRITE'] as const;
export type Permission = (typeof permissions)[number];

/** What a per-request key lets a deployment do with something stored while it is called with that key. */
export interface Grant {
  /** Id of the deployment. */
  readonly receiver: string;
  /** As `toUrl` gives it; with a slash at its end it means all that lies below. */
  readonly url: string;
  readonly permissions: readonly Permission[];
}

/** `attached` are references of files that the reply of an inner call attached: they may be read from now on. */
export type RightsChange =
  | { readonly attached: readonly string[] }
  | { readonly grant: readonly Grant[] }
  | { readonly revoke: readonly Grant[] };

/** References of the files that a call may read, by who named them first. */
export interface NamedFiles {
  /** Named by the user, or by a program that may read them itself. They are handed on with every call. */
  readonly files: Iterable<string>;
  /**
   * Named by anything else, such as an assistant message, the result of a tool, or the reply to an inner call. A program may have
   * written that for another user to send, so they are not handed on to a path with an application that another user saved.
   */
  readonly assistantFiles: Iterable<string>;
}

/** What rights begin with. */
export interface InitialRights extends Partial<NamedFiles> {
  /** What the one who calls has granted: it is handed on only by granting it again. */
  readonly received?: readonly Grant[];
  readonly granted?: readonly Grant[];
}

/** Of one key. */
export const maxGrants = 1000;
const maxAssistantFiles = 2000;

/**
 * The rights to stored resources that a per-request key has beside those of its application, and those it gives to the deployments that
 * it calls. They end with the key.
 */
export class HeldRights {
  readonly #files: ReadonlySet<string>;
  readonly #assistantFiles: Set<string>;
  readonly #received: readonly Grant[];
  readonly #granted = new Map<string, Grant>();
  #onChange: (change: RightsChange) => Promise<void> = async () => undefined;

  constructor({ files = [], assistantFiles = [], received = [], granted = [] }: InitialRights = {}) {
    this.#files = new Set(files);
    this.#assistantFiles = new Set(assistantFiles);
    this.#received = received;
    this.#grant(granted);
  }

  get files(): ReadonlySet<string> {
    return this.#files;
  }

  get assistantFiles(): ReadonlySet<string> {
    return this.#assistantFiles;
  }

  get received(): readonly Grant[] {
    return this.#received;
  }

  get granted(): readonly Grant[] {
    return [...this.#granted.values()];
  }

  /** Whether something may be done by what was named, attached or granted. */
  allows(permission: Permission, url: string): boolean {
    return this.#allowsWithoutAssistant(permission, url) || (permission === 'READ' && this.#assistantFiles.has(url));
  }

  /** Whether a file may be read only because something else than the user named it (`NamedFiles.assistantFiles`). */
  isAssistantOnly(url: string): boolean {
    return this.#assistantFiles.has(url) && !this.#allowsWithoutAssistant('READ', url);
  }

  #allowsWithoutAssistant(permission: Permission, url: string): boolean {
    if (permission === 'READ' && this.#files.has(url)) return true;
    return this.#received.some((grant) => grant.permissions.includes(permission) && covers(grant.url, url));
  }

  /** Whatever is to happen with each change before it counts as made. */
  onChange(listener: (change: RightsChange) => Promise<void>): void {
    this.#onChange = listener;
  }

  /** In force here at once, everywhere once it resolves. Rejects with StoreFault. */
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
 * The rights of a deployment that is called. Without `named`, those to the files that the user named. Grants follow, except for files
 * that the grantor reads only because an assistant message named them: a grant does not change the origin of a right.
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
