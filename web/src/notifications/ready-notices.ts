import { useEffect, useEffectEvent } from 'react';
import type { Reply } from '../conversation/conversation.ts';
import { useGetName, usePage } from '../page/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import { wantsNotices } from './notices.ts';

/** Notifies a user who looks at something else about a complete or failed answer. A click opens it. */
export function ReadyNotices(): null {
  const strings = useStrings();
  const getName = useGetName();
  const { replyRunner, library, go } = usePage();
  const onReply = useEffectEvent((conversationId: string, reply: Reply) => {
    if (reply.state === 'stopped' || document.hasFocus() || !wantsNotices()) return;
    const name = getName(reply.deployment);
    const title = reply.state === 'failed' ? strings.noticeFailed(name) : strings.noticeReady(name);
    const body = library.find(conversationId)?.title;
    notify(title, { tag: conversationId, ...(body && { body }) }, () => go({ at: 'conversation', id: conversationId }));
  });
  useEffect(() => replyRunner.subscribe((conversationId, reply) => onReply(conversationId, reply)), [replyRunner]);
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
    // Browsers that allow notifications only from workers show none. See the setting.
  }
}
