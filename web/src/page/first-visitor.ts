import { takeArrival } from '../sign-in/arrival.ts';
import { readSignIn } from '../sign-in/kept.ts';
import { takeKey, takeLinkedKey } from './kept-key.ts';
import { type Visitor, visitorWithKey } from './visitor.ts';

/**
 * Whoever opens the page, as the address and the tab tell it: by a link with a key, back from an identity provider, or known to
 * the tab; undefined where nobody is. What the address tells leaves it at once. The visitor may be asked for more than once.
 */
export function firstVisitor(): (() => Promise<Visitor>) | undefined {
  const linked = takeLinkedKey();
  const arrival = takeArrival();
  const kept = readSignIn();
  const key = takeKey();
  if (linked !== undefined) return async () => visitorWithKey(linked);
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
