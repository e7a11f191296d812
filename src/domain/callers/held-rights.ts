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

/** `attached` are references of files that may be read from now on. */
export type RightsChange =
  | { readonly attached: readonly string[] }
  | { readonly grant: readonly Grant[] }
  | { readonly revoke: readonly Grant[] };

/** What rights begin with. */
export interface RightsBeginning {
  /** References of files that may be read, and are handed on with every call. */
  readonly files?: Iterable<string>;
  /** What the one who calls has granted: it is handed on only by granting it again. */
  readonly received?: readonly Grant[];
  readonly granted?: readonly Grant[];
}

/** Of one key. */
export const mostGrants = 1000;
const mostFiles = 2000;

/**
 * The rights to stored resources that a per-request key has beside those of its application, and those it gives to the deployments that
 * it calls. They end with the key.
 */
export class HeldRights {
  readonly #files: Set<string>;
  readonly #received: readonly Grant[];
  readonly #granted = new Map<string, Grant>();
  #told: (change: RightsChange) => Promise<void> = async () => undefined;

  constructor({ files = [], received = [], granted = [] }: RightsBeginning = {}) {
    this.#files = new Set(files);
    this.#received = received;
    this.#grant(granted);
  }

  get files(): ReadonlySet<string> {
    return this.#files;
  }

  get received(): readonly Grant[] {
    return this.#received;
  }

  get granted(): readonly Grant[] {
    return [...this.#granted.values()];
  }

  /** Whether something may be done by what was named, attached or granted. */
  may(permission: Permission, url: string): boolean {
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
    for (const reference of references) if (this.#files.size < mostFiles) this.#files.add(reference);
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
 * The rights of a deployment that is called: to the files that are handed on, all that the caller was handed if none are named, and to what
 * the caller granted to it.
 */
export function rightsOfReceiver(
  receiver: string,
  chain: { readonly rights: HeldRights } | null,
  files: Iterable<string> = chain?.rights.files ?? [],
): HeldRights {
  return new HeldRights({ files, received: chain?.rights.granted.filter((grant) => grant.receiver === receiver) ?? [] });
}

function covers(granted: string, url: string): boolean {
  return granted === url || (granted.endsWith('/') && url.startsWith(granted));
}

function keyOf({ receiver, url }: Grant): string {
  return JSON.stringify([receiver, url]);
}
