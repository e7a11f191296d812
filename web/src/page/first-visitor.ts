import { takeArrival } from '../sign-in/arrival.ts';
import { readSignIn } from '../sign-in/kept.ts';
import { keepKey, readKey, takeLinkedKey } from './kept-key.ts';
import { type Visitor, visitorWithKey } from './visitor.ts';

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
export function findFirstVisitor(): FirstVisitor {
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
