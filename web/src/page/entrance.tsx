import { Suspense, useCallback, useEffect, useState } from 'react';
import { KeptReader } from '../offline/kept-reader.tsx';
import { forgetKnownUser } from '../offline/known-user.ts';
import { useKeptShell } from '../offline/use-kept-shell.ts';
import { Guard, lazyView, MissingPart } from '../parts/lazy-view.tsx';
import { faultOf } from '../service/fault.ts';
import { Service } from '../service/service.ts';
import { takeArrival } from '../sign-in/arrival.ts';
import { readSignIn } from '../sign-in/kept.ts';
import { OverNote } from '../sign-in/over-note.tsx';
import { SignInFault } from '../sign-in/sign-in-fault.ts';
import { useTypeface } from '../typeface/use-typeface.ts';
import type { Words } from '../words/english.ts';
import { useWords } from '../words/words.tsx';
import { useAppearance } from './appearance.ts';
import { openSession, type Session } from './session.ts';
import type { Trouble } from './sign-in.tsx';
import { SignedIn } from './signed-in.tsx';
import { keepKey, readKey, takeLinkedKey, type Visitor, visitorWithKey } from './visitor.ts';

const SignIn = lazyView(() => import('./sign-in.tsx').then(({ SignIn: view }) => view));
const LinkedKey = lazyView(() => import('../sign-in/linked-key.tsx').then(({ LinkedKey: view }) => view));

interface Inside {
  readonly session: Session;
  readonly visitor: Visitor;
}

/** Shows the page to those whom the service knows, the others the ways in. */
export function Entrance() {
  const words = useWords();
  const [inside, setInside] = useState<Inside>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [{ first, linked: firstLinked }] = useState(findFirstVisitor);
  /** The key of a link, until it is used or declined. */
  const [linked, setLinked] = useState(firstLinked);
  const [isTrying, setIsTrying] = useState(true);
  /** Whoever opened the page may be let in without a word. */
  const [isArriving, setIsArriving] = useState(first !== undefined);
  const [isReading, setIsReading] = useState(false);
  const [left, setLeft] = useState<{ name: string; address: string }>();
  const [appearance, setAppearance] = useAppearance();
  const isOver = useKept(inside);
  useKeptShell(inside !== undefined);
  useTypeface(!isTrying);

  const enter = useCallback(
    async (coming: Promise<Visitor>) => {
      setIsTrying(true);
      setTrouble(undefined);
      const opened = await coming
        .then((visitor) => letIn(visitor, words))
        .catch((thrown): Trouble => ({ said: whyOf(thrown, words) }));
      if ('said' in opened) {
        setTrouble(opened);
        // Only a session that is over may be replaced without a question.
        if (opened.isRefused !== true) setLinked(undefined);
      } else setInside(opened);
      setIsTrying(false);
      setIsArriving(false);
    },
    [words],
  );

  // Whoever opened the page is let in once, whatever changes afterwards.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (first === undefined) setIsTrying(false);
    else void enter(first());
  }, [first]);

  useEffect(() => {
    const follow = (): void => setLinked((known) => takeLinkedKey() ?? known);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);

  const enterLinked = useCallback(
    (key: string) => {
      setLinked(undefined);
      void enter(Promise.resolve(visitorWithKey(key)));
    },
    [enter],
  );

  useEffect(() => {
    if (linked !== undefined && inside === undefined && !isTrying) enterLinked(linked);
  }, [linked, inside, isTrying, enterLinked]);

  const signOut = useCallback(() => {
    const provider = inside?.visitor.provider;
    const address = provider?.signOutAddress();
    void provider?.signOut();
    setLeft(provider === undefined || address === undefined ? undefined : { name: provider.displayName, address });
    setInside(undefined);
  }, [inside]);

  if (inside === undefined) {
    const onKey = (key: string): void => void enter(Promise.resolve(visitorWithKey(key)));
    if (isReading) return <KeptReader leave={() => setIsReading(false)} />;
    if (isArriving) return <main className="sign-in" aria-busy="true" />;
    return (
      <Guard instead={<MissingPart />}>
        <Suspense fallback={<main className="sign-in" aria-busy="true" />}>
          <SignIn {...{ isTrying, trouble, left, onKey }} onTrouble={setTrouble} readKept={() => setIsReading(true)} />
        </Suspense>
      </Guard>
    );
  }
  const { session, visitor } = inside;
  return (
    <>
      {isOver && visitor.provider !== undefined && <OverNote provider={visitor.provider} />}
      <SignedIn {...{ session, signOut, appearance, setAppearance }} />
      {linked !== undefined && (
        <Guard key={linked} instead={null}>
          <Suspense>
            <LinkedKey {...{ linked, visitor }} user={session.user} enter={enterLinked} close={() => setLinked(undefined)} />
          </Suspense>
        </Guard>
      )}
    </>
  );
}

/** Keeps in the tab who is inside until another is, or nobody; tells whether their sign-in is over. */
function useKept(inside: Inside | undefined): boolean {
  const [over, setOver] = useState<Visitor>();
  useEffect(() => {
    if (inside === undefined) return;
    const { visitor, session } = inside;
    visitor.keep(session.user);
    visitor.provider?.onOver(() => setOver(visitor));
    return () => {
      visitor.leave();
      session.asking.stopAll();
      session.leave();
    };
  }, [inside]);
  return over !== undefined && over === inside?.visitor;
}

/** What is there for the visitor, or what to tell one whom the service does not know. */
async function letIn(visitor: Visitor, words: Words): Promise<Inside | Trouble> {
  try {
    return { visitor, session: await openSession(new Service(visitor), visitor.knownAs) };
  } catch (thrown) {
    const { status, message } = faultOf(thrown);
    if (status !== 401) throw thrown;
    if (visitor.knownAs !== undefined) forgetKnownUser(visitor.knownAs);
    visitor.leave();
    return { said: visitor.refusal(words, message), isOfKey: visitor.provider === undefined, isRefused: true };
  }
}

function whyOf(thrown: unknown, words: Words): Trouble['said'] {
  return thrown instanceof SignInFault ? thrown.trouble : faultOf(thrown).message || words.unreachable;
}

interface FirstVisitor {
  /** Gives the visitor, and may be called more than once. Undefined if the page does not know one. */
  readonly first: (() => Promise<Visitor>) | undefined;
  /** The key of a link that the page was opened by, while the tab knows another visitor. */
  readonly linked: string | undefined;
}

/**
 * Identifies the visitor: back from an identity provider, known to the tab, or with the key of a link if the tab knows no other
 * visitor. The function immediately removes the sign-in data from the address.
 */
function findFirstVisitor(): FirstVisitor {
  const linked = takeLinkedKey();
  const known = findKnownVisitor();
  if (known !== undefined || linked === undefined) return { first: known, linked };
  // A reload while the service is away must not lose it.
  keepKey(linked);
  return { first: async () => visitorWithKey(linked), linked: undefined };
}

function findKnownVisitor(): (() => Promise<Visitor>) | undefined {
  const arrival = takeArrival();
  const kept = readSignIn();
  const key = readKey();
  if (arrival !== undefined)
    return once(async () => {
      const { redeem } = await import('../sign-in/authorization-code.ts');
      const { TokenVisitor } = await import('../sign-in/token-visitor.ts');
      return new TokenVisitor(await redeem(arrival), { isResumed: false });
    });
  if (kept !== undefined)
    return async () => {
      const { TokenVisitor } = await import('../sign-in/token-visitor.ts');
      return new TokenVisitor(kept, { isResumed: true });
    };
  return key === undefined ? undefined : async () => visitorWithKey(key);
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
