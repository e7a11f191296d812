import { useEffect, useEffectEvent, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { type Visitor, visitorWithKey } from '../page/visitor.ts';
import { QuestionDialog } from '../parts/question-dialog.tsx';
import { faultOf } from '../service/fault.ts';
import { Service } from '../service/service.ts';
import type { SignInWords } from './sign-in-english.ts';
import { useSignInWords } from './sign-in-words.ts';

interface LinkedKeyProps {
  /** The key of the link. */
  readonly linked: string;
  /** Signed-in visitor. `user` is the name that the service returned. */
  readonly visitor: Visitor;
  readonly user: string;
  readonly enter: (key: string) => void;
  readonly close: () => void;
}

/** User of a link's key, or `refused`. */
type KeyUser = { readonly user: string | undefined } | 'refused';

/**
 * Asks before the key of a link replaces a session, because the author of the link may want the user to work under another name.
 * A key of the same user needs no question.
 */
export function LinkedKey({ linked, visitor, user, enter, close }: LinkedKeyProps) {
  const own = useSignInWords();
  const [found, setFound] = useState<KeyUser>();
  const isSame = found !== undefined && found !== 'refused' && found.user === user;
  const settle = useEffectEvent(() => (visitor.provider === undefined ? enter(linked) : close()));

  useEffect(() => {
    let isGone = false;
    void findUser(linked).then((known) => isGone || setFound(known));
    return () => {
      isGone = true;
    };
  }, [linked]);

  useEffect(() => {
    if (isSame) settle();
  }, [isSame]);

  if (found === undefined || isSame) return null;
  const here = toName(user, own);
  if (found === 'refused') return <QuestionDialog question={own.linkRefused(here)} stay={own.stay} close={close} />;
  const question = found.user === undefined ? own.linkOfUnknown(here) : own.linkOfAnother(here, toName(found.user, own));
  return <QuestionDialog {...{ question, close }} answer={own.switchUser} stay={own.stay} act={() => enter(linked)} />;
}

/** All keys of a project are one user (docs/wire.md, Credentials). */
function toName(user: string, own: SignInWords): string {
  return user.startsWith('key:') ? own.keyOf(user.slice('key:'.length)) : user;
}

async function findUser(key: string): Promise<KeyUser> {
  try {
    const info = await new Service(visitorWithKey(key)).json('v1/user/info');
    return { user: isJsonObject(info) && typeof info.user === 'string' ? info.user : undefined };
  } catch (thrown) {
    return faultOf(thrown).status === 401 ? 'refused' : { user: undefined };
  }
}
