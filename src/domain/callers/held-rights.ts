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
export interface RightsBeginning extends Partial<NamedFiles> {
  /** What the one who calls has granted: it is handed on only by granting it again. */
  readonly received?: readonly Grant[];
  readonly granted?: readonly Grant[];
}

/** Of one key. */
export const mostGrants = 1000;
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
  #told: (change: RightsChange) => Promise<void> = async () => undefined;

  constructor({ files = [], assistantFiles = [], received = [], granted = [] }: RightsBeginning = {}) {
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
  may(permission: Permission, url: string): boolean {
    return this.#mayUnlessAssistants(permission, url) || (permission === 'READ' && this.#assistantFiles.has(url));
  }

  /** Whether a file may be read only because something else than the user named it (`NamedFiles.assistantFiles`). */
  isOnlyAssistants(url: string): boolean {
    return this.#assistantFiles.has(url) && !this.#mayUnlessAssistants('READ', url);
  }

  #mayUnlessAssistants(permission: Permission, url: string): boolean {
    if (permission === 'READ' && this.#files.has(url)) return true;
    return this.#received.some((grant) => grant.permissions.includes(permission) && covers(grant.url, url));
  }

  /** Whatever is to happen with each change before it counts as made. */
  tell(told: (change: RightsChange) => Promise<void>): void {
    this.#told = told;
  }

  /** In force here at once, everywhere once it resolves. Rejects with StoreFault. */
  change(change: RightsChange): Promise<void> {
    if ('attached' in change) this.#attach(change.attached);
    else if ('grant' in change) this.#grant(change.grant);
    else this.#revoke(change.revoke);
    return this.#told(change);
  }

  #attach(references: readonly string[]): void {
    for (const reference of references) if (this.#assistantFiles.size < maxAssistantFiles) this.#assistantFiles.add(reference);
  }

  #grant(grants: readonly Grant[]): void {
    for (const grant of grants) {
      const before = this.#granted.get(keyOf(grant))?.permissions ?? [];
      this.#granted.set(keyOf(grant), { ...grant, permissions: [...new Set([...before, ...grant.permissions])] });
    }
  }

  #revoke(grants: readonly Grant[]): void {
    for (const grant of grants) {
      const key = keyOf(grant);
      const left = this.#granted.get(key)?.permissions.filter((permission) => !grant.permissions.includes(permission)) ?? [];
      if (left.length === 0) this.#granted.delete(key);
      else this.#granted.set(key, { ...grant, permissions: left });
    }
  }
}

/**
 * The rights of a deployment that is called. Without `named`, those to the files that the user named. Grants follow, except for files
 * that the grantor reads only because an assistant message named them: a grant does not change the origin of a right.
 */
export function rightsOfReceiver(
  receiver: string,
  chain: { readonly rights: HeldRights } | null,
  named: Partial<NamedFiles> = { files: chain?.rights.files ?? [] },
): HeldRights {
  const granted = chain?.rights.granted ?? [];
  const received = granted.filter((grant) => grant.receiver === receiver && chain?.rights.isOnlyAssistants(grant.url) !== true);
  return new HeldRights({ ...named, received });
}

function covers(granted: string, url: string): boolean {
  return granted === url || (granted.endsWith('/') && url.startsWith(granted));
}

function keyOf({ receiver, url }: Grant): string {
  return JSON.stringify([receiver, url]);
}
