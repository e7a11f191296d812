import { useCallback, useEffect, useState } from 'react';
import { faultOf } from '../service/fault.ts';
import { Service } from '../service/service.ts';
import { useWords } from '../words/words.tsx';
import { useAppearance } from './appearance.ts';
import { forgetKey, keepKey, takeKey, takeLinkedKey } from './kept-key.ts';
import { openSession, type Session } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { SignedIn } from './signed-in.tsx';

/** Shows the page to those who have a key that is known here, the others the way in. */
export function Entrance() {
  const words = useWords();
  const [session, setSession] = useState<Session>();
  const [trouble, setTrouble] = useState('');
  const [isTrying, setIsTrying] = useState(true);
  const [appearance, setAppearance] = useAppearance();

  const enter = useCallback(
    async (key: string) => {
      setIsTrying(true);
      setTrouble('');
      try {
        const opened = await openSession(new Service(key));
        keepKey(key);
        setSession(opened);
      } catch (thrown) {
        const { status, message } = faultOf(thrown);
        if (status === 401) forgetKey();
        setTrouble(status === 401 ? words.keyRefused : message || words.unreachable);
      }
      setIsTrying(false);
    },
    [words],
  );

  const [firstKey] = useState(takeKey);
  // The key of the link is tried once, whatever changes afterwards.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (firstKey === undefined) setIsTrying(false);
    else void enter(firstKey);
  }, [firstKey]);

  useEffect(() => {
    const follow = (): void => {
      const linked = takeLinkedKey();
      if (linked !== undefined) void enter(linked);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [enter]);

  const signOut = useCallback(() => {
    forgetKey();
    setSession((open) => {
      open?.asking.stopAll();
      return undefined;
    });
  }, []);

  if (session !== undefined) return <SignedIn {...{ session, signOut, appearance, setAppearance }} />;
  return <SignIn isTrying={isTrying} trouble={trouble} onKey={enter} />;
}
