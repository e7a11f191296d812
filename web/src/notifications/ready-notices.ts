import { useEffect, useEffectEvent } from 'react';
import type { Reply } from '../conversation/conversation.ts';
import { useNameOf, usePage } from '../page/page.tsx';
import { useWords } from '../words/words.tsx';
import { wantsNotices } from './notices.ts';

/** Notifies one who looks at something else that an answer has come, or failed; a click leads to it. */
export function ReadyNotices(): null {
  const words = useWords();
  const nameOf = useNameOf();
  const { asking, library, go } = usePage();
  const tell = useEffectEvent((conversationId: string, reply: Reply) => {
    if (reply.state === 'stopped' || document.hasFocus() || !wantsNotices()) return;
    const name = nameOf(reply.deployment);
    const title = reply.state === 'failed' ? words.noticeFailed(name) : words.noticeReady(name);
    const body = library.find(conversationId)?.title;
    notify(title, { tag: conversationId, ...(body && { body }) }, () => go({ at: 'conversation', id: conversationId }));
  });
  useEffect(() => asking.hear((conversationId, reply) => tell(conversationId, reply)), [asking]);
  return null;
}

function notify(title: string, options: NotificationOptions, open: () => void): void {
  try {
    const notice = new Notification(title, options);
    notice.onclick = () => {
      notice.close();
      focus();
      open();
    };
  } catch {
    // A browser that takes notifications of workers alone says nothing: see the choice.
  }
}
