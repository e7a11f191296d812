import { ParleyError } from '#contract/errors/errors.ts';
import { adminRole, defaultRole } from '#contract/roles.ts';
import { createUnauthorizedError } from '#domain/callers/identify.ts';
import { createRuntimeKey, hashKey } from '#domain/callers/key-form.ts';
import type { EntryView, PlannedWrite } from './runtime-entries.ts';

const tokenPrefix = 'parley_first_';
const maxTries = 20;
const project = 'administration';

export interface FirstStartDeps {
  /** Returns whether a key or a sign-in of the configuration can have the role `admin` after a restart. */
  readonly hasAdministrator: (configuration: EntryView['configuration']) => boolean;
  readonly newId: () => string;
  /** Returns 32 random bytes in base64url. */
  readonly newSecret: () => string;
  /** Token that another process of the node also accepts. Default: a new token. */
  readonly token?: string | undefined;
  /** Called when the token becomes invalid after too many wrong attempts. */
  readonly onExhausted?: () => void;
}

/** Returns a one-time token. `secret` is 32 random bytes in base64url. */
export function createFirstStartToken(secret: string): string {
  return `${tokenPrefix}${secret}`;
}

/** The first key of an administrator. Only its digest is stored. */
export interface FirstKey {
  readonly id: string;
  readonly key: string;
  /** Plans the write of the key. Throws `administrator_exists`. */
  readonly plan: (view: EntryView) => readonly PlannedWrite[];
}

/**
 * One-time token in the log of this node. While no administrator exists, an operator can exchange it for a permanent admin key.
 * The token becomes invalid when it is used, after 20 wrong attempts, and when the process ends.
 */
export class FirstStart {
  readonly #deps: FirstStartDeps;
  #digest: string | undefined;
  #remainingTries = 0;

  constructor(deps: FirstStartDeps) {
    this.#deps = deps;
  }

  /** Makes the token valid and returns it. Returns undefined if the configuration has an administrator. */
  offer(configuration: EntryView['configuration']): string | undefined {
    if (this.#deps.hasAdministrator(configuration)) return undefined;
    const token = this.#deps.token ?? createFirstStartToken(this.#deps.newSecret());
    this.#digest = hashKey(token);
    this.#remainingTries = maxTries;
    return token;
  }

  /** Returns whether the token is valid and the configuration has no administrator. */
  isWaiting(configuration: EntryView['configuration']): boolean {
    return this.#digest !== undefined && !this.#deps.hasAdministrator(configuration);
  }

  /** Creates a key in exchange for the token. The caller must store the key. Throws `invalid_token`. */
  createKey(token: string): FirstKey {
    // Digests are compared, so the duration does not reveal a part of the token.
    if (this.#digest === undefined || hashKey(token) !== this.#digest) {
      this.#countWrongTry();
      throw createUnauthorizedError(
        'invalid_token',
        'The one-time token is wrong, was already used, or is no longer valid. Restart Parley to get a new one in its log (firstStartToken).',
      );
    }
    const id = `key_${this.#deps.newId().replaceAll('-', '')}`;
    const { key, digest, prefix } = createRuntimeKey(this.#deps.newSecret());
    const value = { project, name: 'First administrator', roles: [defaultRole, adminRole], sha256: digest };
    return {
      id,
      key,
      plan: ({ configuration }) => {
        if (!this.#deps.hasAdministrator(configuration)) return [{ kind: 'keys', id, after: { value, keyPrefix: prefix } }];
        this.end();
        throw new ParleyError(
          'administrator_exists',
          'An administrator exists. Use its key, or add a key with the role admin to a configuration file.',
        );
      },
    };
  }

  /** Makes the token invalid. */
  end(): void {
    this.#digest = undefined;
  }

  #countWrongTry(): void {
    if (this.#digest === undefined) return;
    this.#remainingTries -= 1;
    if (this.#remainingTries > 0) return;
    this.end();
    this.#deps.onExhausted?.();
  }
}
