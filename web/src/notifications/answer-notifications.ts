import { useEffect, useEffectEvent } from 'react';
import type { Reply } from '../conversation/conversation.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';

/** Shows a notification when an answer ends while the window has no focus, unless the user stopped it. A click opens the chat. */
export function AnswerNotifications(): null {
  const strings = useStrings();
  const getName = useGetName();
  const { replyRunner, library, go } = usePage();
  const onReply = useEffectEvent((conversationId: string, reply: Reply) => {
    if (reply.state === 'stopped' || document.hasFocus() || !areNotificationsEnabled()) return;
    const name = getName(reply.deployment);
    const title = reply.state === 'failed' ? strings.couldNotAnswer(name) : strings.hasAnswered(name);
    const body = library.find(conversationId)?.title;
    notify(title, { tag: conversationId, ...(body && { body }) }, () => go({ at: 'conversation', id: conversationId }));
  });
  useEffect(() => replyRunner.subscribe((conversationId, reply) => onReply(conversationId, reply)), [replyRunner]);
  return null;
}

function notify(title: string, options: NotificationOptions, open: () => void): void {
  try {
    const notification = new Notification(title, options);
    notification.onclick = () => {
      notification.close();
      focus();
      open();
    };
  } catch {
    // Browsers that allow notifications only from service workers show none.
  }
}

const storageKey = 'parley notices';

/** Whether notifications about answers are enabled and still allowed. */
export function areNotificationsEnabled(): boolean {
  return supportsNotifications() && Notification.permission === 'granted' && localStorage.getItem(storageKey) === 'on';
}

/** Whether the browser offers notifications here. Some browsers do so only on HTTPS pages. */
export function supportsNotifications(): boolean {
  return 'Notification' in globalThis && isSecureContext;
}

/**
 * Turns notifications on or off. Resolves with whether this took effect, because the user or the browser may deny notifications.
 */
export async function setNotifications(isOn: boolean): Promise<boolean> {
  if (!isOn) localStorage.removeItem(storageKey);
  else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(storageKey, 'on');
  return areNotificationsEnabled() === isOn;
}
