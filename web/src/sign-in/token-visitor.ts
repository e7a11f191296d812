import type { Strings } from '../locales/en/page.ts';
import type { AuthHeaders } from '../service/service.ts';
import { clearKey, type Visitor, type VisitorProvider } from '../shell/visitor.ts';
import { startSignIn } from './authorization-code.ts';
import { requestSharedSignIn, type SharedSignIn } from './shared-sign-in.ts';
import { SignInError } from './sign-in-error.ts';
import { clearSignIn, type StoredSignIn, storeSignIn } from './sign-in-storage.ts';
import { requestTokens, revokeToken } from './tokens.ts';

export interface TokenVisitorOptions {
  /** Whether the tab already had the tokens, so that they may be outdated. */
  readonly isResumed: boolean;
}

/** A visitor with tokens of an identity provider. They are renewed before they expire, and when the service rejects them. */
export class TokenVisitor implements Visitor, VisitorProvider {
  readonly #isResumed: boolean;
  #signIn: StoredSignIn;
  #renewal: Promise<boolean> | undefined;
  #isStored = false;
  #isEnded = false;
  #onEnd: () => void = () => undefined;

  constructor(signIn: StoredSignIn, { isResumed }: TokenVisitorOptions) {
    this.#signIn = signIn;
    this.#isResumed = isResumed;
  }

  get provider(): VisitorProvider {
    return this;
  }

  get displayName(): string {
    return this.#signIn.provider.displayName;
  }

  async getHeaders(): Promise<AuthHeaders> {
    const { renewAtMs } = this.#signIn.tokens;
    if (renewAtMs !== null && renewAtMs <= Date.now()) await this.#renew();
    return { authorization: `Bearer ${this.#signIn.tokens.serviceToken}` };
  }

  async renew({ authorization }: AuthHeaders): Promise<boolean> {
    if (authorization !== `Bearer ${this.#signIn.tokens.serviceToken}` || (await this.#renew())) return true;
    if (this.#isEnded || this.#signIn.tokens.refresh === undefined) this.#onEnd();
    return false;
  }

  get knownUserId(): string | undefined {
    return this.#signIn.user;
  }

  store(user: string): void {
    this.#isStored = true;
    this.#signIn = { ...this.#signIn, user };
    clearKey();
    storeSignIn(this.#signIn);
  }

  share(user: string): SharedSignIn {
    return { kind: 'tokens', signIn: { ...this.#signIn, user } };
  }

  clear(): void {
    this.#isStored = false;
    clearSignIn(this.#signIn.isPersistent);
  }

  describeRejection(strings: Strings, serviceMessage: string): string {
    return this.#isResumed ? strings.signInEnded : strings.tokenRefused(this.displayName, serviceMessage);
  }

  /** Builds the logout URL (OpenID Connect RP-Initiated Logout 1.0, section 2). */
  getSignOutUrl(): string | undefined {
    const { provider, tokens } = this.#signIn;
    if (provider.endpoints.endSession === undefined) return undefined;
    const url = new URL(provider.endpoints.endSession);
    url.searchParams.set('client_id', provider.clientId);
    if (tokens.id !== undefined) url.searchParams.set('id_token_hint', tokens.id);
    return url.href;
  }

  async signOut(): Promise<void> {
    const revoke = async ({ provider, tokens: { refresh } }: StoredSignIn): Promise<void> => {
      if (refresh !== undefined) await revokeToken(provider, refresh);
    };
    const signIn = this.#signIn;
    await Promise.all([revoke(signIn), this.#renewal]);
    if (this.#signIn.tokens.refresh !== signIn.tokens.refresh) await revoke(this.#signIn);
  }

  getSignInUrl(): Promise<string> {
    return startSignIn(this.#signIn.provider, this.#signIn.isPersistent);
  }

  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  /** Runs one renewal at a time, because a provider may treat a repeated refresh token as stolen. */
  #renew(): Promise<boolean> {
    this.#renewal ??= withLock(() => this.#fetchTokens()).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #fetchTokens(): Promise<boolean> {
    const { provider, tokens: old } = this.#signIn;
    if (this.#isEnded || old.refresh === undefined) return false;
    if (await this.#adoptTokens()) return true;
    try {
      const tokens = await requestTokens(provider, { grant_type: 'refresh_token', refresh_token: old.refresh });
      this.#signIn = { ...this.#signIn, tokens: { ...tokens, refresh: tokens.refresh ?? old.refresh, id: tokens.id ?? old.id } };
    } catch (error) {
      // The next request tries again if the provider is only unreachable.
      this.#isEnded = error instanceof SignInError && /^(rejected|unusable)$/.test(error.problem.kind);
      return false;
    }
    if (this.#isStored) storeSignIn(this.#signIn);
    return true;
  }

  /** Uses the tokens of another tab of the same user if that tab renewed them. */
  async #adoptTokens(): Promise<boolean> {
    const { user, tokens } = this.#signIn;
    const shared = await requestSharedSignIn(
      (reply) => reply.kind === 'tokens' && reply.signIn.user === user && reply.signIn.tokens.refresh !== tokens.refresh,
    );
    if (shared?.kind !== 'tokens') return false;
    this.#signIn = { ...this.#signIn, tokens: shared.signIn.tokens };
    if (this.#isStored) storeSignIn(this.#signIn);
    return true;
  }
}

/** Runs the renewals of several tabs one after the other. Browsers provide locks only over HTTPS and on localhost. */
function withLock(renew: () => Promise<boolean>): Promise<boolean> {
  return navigator.locks?.request('parley renewal', renew) ?? renew();
}
