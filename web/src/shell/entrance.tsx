import { useCallback, useEffect, useState } from 'react';
import type { Strings } from '../locales/en/page.ts';
import { deleteKnownUser } from '../offline/known-user.ts';
import { useOfflineShell } from '../offline/use-offline-shell.ts';
import { Guard, lazyView, MissingPart } from '../parts/lazy-view.tsx';
import { Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';
import { SessionEndedNote } from '../sign-in/session-ended-note.tsx';
import { requestSharedSignIn, type SharedSignIn, shareSignIn, signOutOtherTabs } from '../sign-in/shared-sign-in.ts';
import { SignInError } from '../sign-in/sign-in-error.ts';
import { consumeProviderResponse, loadSignIn, type StoredSignIn } from '../sign-in/sign-in-storage.ts';
import type { TokenVisitorOptions } from '../sign-in/token-visitor.ts';
import { useStrings } from '../strings/strings.tsx';
import { useTypeface } from '../typeface/use-typeface.ts';
import { useAppearance } from './appearance.ts';
import { openSession, type Session } from './session.ts';
import type { SignInFailure } from './sign-in.tsx';
import { SignedIn } from './signed-in.tsx';
import { consumeLinkedKey, createKeyVisitor, loadKey, storeKey, type Visitor } from './visitor.ts';

const SignIn = lazyView(() => import('./sign-in.tsx').then(({ SignIn: view }) => view));
const OfflinePage = lazyView(() => import('../offline/offline-page.tsx').then(({ OfflinePage: view }) => view));
const LinkedKey = lazyView(() => import('../sign-in/linked-key.tsx').then(({ LinkedKey: view }) => view));

interface ActiveSession {
  readonly session: Session;
  readonly visitor: Visitor;
}

/** Shows the page to signed-in users. Shows the sign-in view if no user is signed in. */
export function Entrance() {
  const strings = useStrings();
  const [active, setActive] = useState<ActiveSession>();
  const [failure, setFailure] = useState<SignInFailure>();
  const [{ loadFirst, linkedKey: initialLinkedKey }] = useState(findFirstVisitor);
  /** Key from the link, until it is used or declined. */
  const [linkedKey, setLinkedKey] = useState(initialLinkedKey);
  const [isSigningIn, setIsSigningIn] = useState(true);
  /** Whether the stored sign-in, or the key of a link, is being tried. */
  const [isRestoring, setIsRestoring] = useState(true);
  const [isReadingOffline, setIsReadingOffline] = useState(false);
  const [providerSignOut, setProviderSignOut] = useState<{ name: string; address: string }>();
  const [appearance, setAppearance] = useAppearance();
  /** Whether the user signed out, in this tab or another one. */
  const [isSignedOut, setIsSignedOut] = useState(false);
  const endSession = useCallback(() => {
    setActive(undefined);
    setIsSignedOut(true);
  }, []);
  const isEnded = useActiveSession(active, endSession);
  useOfflineShell(active !== undefined);
  useTypeface(!isSigningIn);

  const signIn = useCallback(
    async (pendingVisitor: Promise<Visitor | undefined>) => {
      setIsSigningIn(true);
      setFailure(undefined);
      const result = await pendingVisitor
        .then((visitor) => visitor && signInVisitor(visitor, strings))
        .catch((error): SignInFailure => ({ message: getReason(error, strings) }));
      if (result === undefined) setActive(undefined);
      else if ('message' in result) {
        setFailure(result);
        // Only an ended session may be replaced without a question.
        if (result.isRejected !== true) setLinkedKey(undefined);
      } else setActive(result);
      setIsSigningIn(false);
      setIsRestoring(false);
    },
    [strings],
  );

  // The visitor who opened the page is signed in only once, regardless of later changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => void signIn(loadFirst()), [loadFirst]);

  useEffect(() => {
    const onHashChange = (): void => setLinkedKey((current) => consumeLinkedKey() ?? current);
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, []);

  const signInWithLinkedKey = useCallback(
    (key: string) => {
      setLinkedKey(undefined);
      setIsRestoring(true);
      void signIn(Promise.resolve(createKeyVisitor(key)));
    },
    [signIn],
  );

  useEffect(() => {
    if (linkedKey === undefined || active !== undefined || isSigningIn) return;
    // A reload while the service is unreachable must not lose the key.
    storeKey(linkedKey);
    signInWithLinkedKey(linkedKey);
  }, [linkedKey, active, isSigningIn, signInWithLinkedKey]);

  const signOut = useCallback(() => {
    const provider = active?.visitor.provider;
    const address = provider?.getSignOutUrl();
    void provider?.signOut();
    if (active !== undefined) signOutOtherTabs(active.session.user);
    setProviderSignOut(provider === undefined || address === undefined ? undefined : { name: provider.displayName, address });
    endSession();
  }, [active, endSession]);

  if (active === undefined) {
    const onKey = (key: string, isPersistent: boolean): void =>
      void signIn(Promise.resolve(createKeyVisitor(key, { isPersistent })));
    if (isReadingOffline)
      return (
        <Guard fallback={<MissingPart />} pending={<main aria-busy="true" />}>
          <OfflinePage close={() => setIsReadingOffline(false)} />
        </Guard>
      );
    if (isRestoring || linkedKey !== undefined) return <main className="sign-in" aria-busy="true" />;
    return (
      <Guard fallback={<MissingPart />} pending={<main className="sign-in" aria-busy="true" />}>
        <SignIn
          {...{ isSigningIn, failure, providerSignOut, onKey }}
          onShared={isSignedOut ? undefined : (shared) => void signIn(toVisitor(shared))}
          onFailure={setFailure}
          onReadOffline={() => setIsReadingOffline(true)}
        />
      </Guard>
    );
  }
  const { session, visitor } = active;
  return (
    <>
      {isEnded && visitor.provider !== undefined && <SessionEndedNote provider={visitor.provider} />}
      <SignedIn {...{ session, signOut, appearance, setAppearance }} />
      {linkedKey !== undefined && (
        <Guard key={linkedKey} fallback={null}>
          <LinkedKey
            {...{ linkedKey, visitor }}
            user={session.user}
            onSignIn={signInWithLinkedKey}
            onClose={() => setLinkedKey(undefined)}
          />
        </Guard>
      )}
    </>
  );
}

/**
 * Stores the active user in the tab until it changes, and shares the sign-in with other tabs. `endSession` is called when the user
 * signs out in another tab. Returns whether the session has ended.
 */
function useActiveSession(active: ActiveSession | undefined, endSession: () => void): boolean {
  const [endedVisitor, setEndedVisitor] = useState<Visitor>();
  useEffect(() => {
    if (active === undefined) return;
    const { visitor, session } = active;
    visitor.store(session.user);
    visitor.provider?.onEnd(() => setEndedVisitor(visitor));
    const { user } = session;
    const stopSharing = shareSignIn({ user, getShared: () => visitor.share(user), onSignOut: endSession });
    return () => {
      stopSharing();
      visitor.clear();
      session.replyRunner.close();
      session.close();
    };
  }, [active, endSession]);
  return endedVisitor !== undefined && endedVisitor === active?.visitor;
}

/** Opens a session. Returns a failure if the service rejects the credentials of the visitor. */
async function signInVisitor(visitor: Visitor, strings: Strings): Promise<ActiveSession | SignInFailure> {
  try {
    return { visitor, session: await openSession(new Service(visitor), visitor.knownUserId) };
  } catch (error) {
    const { status, message } = toErrorDetails(error);
    if (status !== 401) throw error;
    if (visitor.knownUserId !== undefined) deleteKnownUser(visitor.knownUserId);
    visitor.clear();
    return {
      message: visitor.describeRejection(strings, message),
      isKeyFailure: visitor.provider === undefined,
      isRejected: true,
    };
  }
}

function getReason(error: unknown, strings: Strings): SignInFailure['message'] {
  return error instanceof SignInError ? error.problem : toErrorDetails(error).message || strings.unreachable;
}

interface FirstVisitor {
  /** Returns the visitor, or undefined if the page does not know one. Can be called repeatedly. */
  readonly loadFirst: () => Promise<Visitor | undefined>;
  /** Key of the link that opened the page. It is used without a question only if there is no other visitor. */
  readonly linkedKey: string | undefined;
}

/**
 * Finds the visitor in this order: the response of an identity provider, the sign-in that this tab or browser stores, or the
 * sign-in of another tab. Immediately removes the sign-in data from the address.
 */
function findFirstVisitor(): FirstVisitor {
  const linkedKey = consumeLinkedKey();
  return { loadFirst: findKnownVisitor() ?? loadSharedVisitor, linkedKey };
}

function findKnownVisitor(): (() => Promise<Visitor>) | undefined {
  const providerResponse = consumeProviderResponse();
  const storedSignIn = loadSignIn();
  const storedKey = loadKey();
  if (providerResponse !== undefined)
    return once(async () => {
      const { redeem } = await import('../sign-in/authorization-code.ts');
      return createTokenVisitor(await redeem(providerResponse), { isResumed: false });
    });
  if (storedSignIn !== undefined) return () => createTokenVisitor(storedSignIn, { isResumed: true });
  return storedKey && (async () => createKeyVisitor(storedKey.key, storedKey));
}

async function loadSharedVisitor(): Promise<Visitor | undefined> {
  return toVisitor(await requestSharedSignIn());
}

/** Returns the visitor of another tab. */
async function toVisitor(shared: SharedSignIn | undefined): Promise<Visitor | undefined> {
  if (shared?.kind === 'key') return createKeyVisitor(shared.key, shared);
  return shared && createTokenVisitor(shared.signIn, { isResumed: true });
}

async function createTokenVisitor(signIn: StoredSignIn, options: TokenVisitorOptions): Promise<Visitor> {
  const { TokenVisitor } = await import('../sign-in/token-visitor.ts');
  return new TokenVisitor(signIn, options);
}

function once<Value>(create: () => Promise<Value>): () => Promise<Value> {
  let created: Promise<Value> | undefined;
  return () => {
    created ??= create();
    return created;
  };
}
