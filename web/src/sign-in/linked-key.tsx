import { useEffect, useEffectEvent, useState } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import type { SignInStrings } from '../locales/en/sign-in.ts';
import { QuestionDialog } from '../parts/question-dialog.tsx';
import { Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';
import { getKeyTeam } from '../shell/page.tsx';
import { createKeyVisitor, type Visitor } from '../shell/visitor.ts';
import { useSignInStrings } from './sign-in-strings.ts';

interface LinkedKeyProps {
  /** Key of the link. */
  readonly linkedKey: string;
  /** Signed-in visitor. `user` is the name that the service returned. */
  readonly visitor: Visitor;
  readonly user: string;
  readonly onSignIn: (key: string) => void;
  readonly onClose: () => void;
}

/** User of a link's key, or `rejected` for an invalid key. */
type KeyUser = { readonly user: string | undefined } | 'rejected';

/**
 * Asks before the key of a link replaces the session, because the author of the link may want the user to act as another user. Does
 * not ask if the key is of the same user.
 */
export function LinkedKey({ linkedKey, visitor, user, onSignIn, onClose }: LinkedKeyProps) {
  const signInStrings = useSignInStrings();
  const [keyUser, setKeyUser] = useState<KeyUser>();
  const isSame = keyUser !== undefined && keyUser !== 'rejected' && keyUser.user === user;
  const skipQuestion = useEffectEvent(async () => {
    // A new session with the same key would discard drafts and queued messages.
    const isCurrent = visitor.provider !== undefined || (await visitor.getHeaders())['api-key'] === linkedKey;
    if (isCurrent) onClose();
    else onSignIn(linkedKey);
  });

  useEffect(() => {
    let isCanceled = false;
    void findUser(linkedKey).then((loadedUser) => isCanceled || setKeyUser(loadedUser));
    return () => {
      isCanceled = true;
    };
  }, [linkedKey]);

  useEffect(() => {
    if (isSame) void skipQuestion();
  }, [isSame]);

  if (keyUser === undefined || isSame) return null;
  const currentName = formatUser(user, signInStrings);
  if (keyUser === 'rejected')
    return (
      <QuestionDialog question={signInStrings.linkRejected(currentName)} cancelLabel={signInStrings.stay} onClose={onClose} />
    );
  const question =
    keyUser.user === undefined
      ? signInStrings.linkForUnknownUser(currentName)
      : signInStrings.linkForOtherUser(currentName, formatUser(keyUser.user, signInStrings));
  return (
    <QuestionDialog
      {...{ question, onClose }}
      confirmLabel={signInStrings.switchUser}
      cancelLabel={signInStrings.stay}
      onConfirm={() => onSignIn(linkedKey)}
    />
  );
}

function formatUser(user: string, signInStrings: SignInStrings): string {
  const team = getKeyTeam(user);
  return team === undefined ? user : signInStrings.keyLabel(team);
}

async function findUser(key: string): Promise<KeyUser> {
  try {
    const info = await new Service(createKeyVisitor(key)).json('v1/user/info');
    return { user: isJsonObject(info) && typeof info.user === 'string' ? info.user : undefined };
  } catch (error) {
    return toErrorDetails(error).status === 401 ? 'rejected' : { user: undefined };
  }
}
