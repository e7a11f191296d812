import { forgetKey, type Visitor, type VisitorsProvider } from '../page/visitor.ts';
import type { Shown } from '../service/credentials.ts';
import type { Words } from '../words/english.ts';
import { beginSignIn } from './authorization-code.ts';
import { forgetSignIn, type KeptSignIn, keepSignIn } from './kept.ts';
import { SignInFault } from './sign-in-fault.ts';
import { requestTokens, revokeToken } from './tokens.ts';

export interface TokenVisitorOptions {
  /** Whether the tab knew the tokens before, so that they may have become old. */
  readonly isResumed: boolean;
}

/** Somebody with tokens of an identity provider, which are renewed before they end, and where the service refuses them. */
export class TokenVisitor implements Visitor, VisitorsProvider {
  readonly #isResumed: boolean;
  #held: KeptSignIn;
  #renewing: Promise<boolean> | undefined;
  #isKept = false;
  #isOver = false;
  #hearOver: () => void = () => undefined;

  constructor(held: KeptSignIn, { isResumed }: TokenVisitorOptions) {
    this.#held = held;
    this.#isResumed = isResumed;
  }

  get provider(): VisitorsProvider {
    return this;
  }

  get displayName(): string {
    return this.#held.way.displayName;
  }

  async show(): Promise<Shown> {
    const { renewAtMs } = this.#held.tokens;
    if (renewAtMs !== null && renewAtMs <= Date.now()) await this.#renew();
    return { authorization: `Bearer ${this.#held.tokens.sent}` };
  }

  async renew({ authorization }: Shown): Promise<boolean> {
    if (authorization !== `Bearer ${this.#held.tokens.sent}` || (await this.#renew())) return true;
    if (this.#isOver || this.#held.tokens.refresh === undefined) this.#hearOver();
    return false;
  }

  get knownAs(): string | undefined {
    return this.#held.user;
  }

  keep(user: string): void {
    this.#isKept = true;
    this.#held = { ...this.#held, user };
    forgetKey();
    keepSignIn(this.#held);
  }

  leave(): void {
    this.#isKept = false;
    forgetSignIn();
  }

  refusal(words: Words, why: string): string {
    return this.#isResumed ? words.signInEnded : words.tokenRefused(this.displayName, why);
  }

  /** OpenID Connect RP-Initiated Logout 1.0, 2. */
  signOutAddress(): string | undefined {
    const { way, tokens } = this.#held;
    if (way.endpoints.endSession === undefined) return undefined;
    const url = new URL(way.endpoints.endSession);
    url.searchParams.set('client_id', way.clientId);
    if (tokens.id !== undefined) url.searchParams.set('id_token_hint', tokens.id);
    return url.href;
  }

  async signOut(): Promise<void> {
    const revokeHeld = async ({ way, tokens: { refresh } }: KeptSignIn): Promise<void> => {
      if (refresh !== undefined) await revokeToken(way, refresh);
    };
    const held = this.#held;
    await Promise.all([revokeHeld(held), this.#renewing]);
    if (this.#held.tokens.refresh !== held.tokens.refresh) await revokeHeld(this.#held);
  }

  signInAddress(): Promise<string> {
    return beginSignIn(this.#held.way);
  }

  onOver(hear: () => void): void {
    this.#hearOver = hear;
  }

  /** One at a time: a provider may take a refresh token that comes twice for a stolen one. */
  #renew(): Promise<boolean> {
    this.#renewing ??= this.#fetchNew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #fetchNew(): Promise<boolean> {
    const { tokens: old, ...held } = this.#held;
    const { way } = held;
    if (this.#isOver || old.refresh === undefined) return false;
    try {
      const tokens = await requestTokens(way, { grant_type: 'refresh_token', refresh_token: old.refresh });
      this.#held = { ...held, tokens: { ...tokens, refresh: tokens.refresh ?? old.refresh, id: tokens.id ?? old.id } };
    } catch (thrown) {
      // A provider that is out of reach may be back for the next request.
      this.#isOver = thrown instanceof SignInFault && /^(refused|unusable)$/.test(thrown.trouble.kind);
      return false;
    }
    if (this.#isKept) keepSignIn(this.#held);
    return true;
  }
}
