/** Tells the user's other tabs which conversation was changed or removed, and is told by them. */
export interface OtherTabs {
  notify(conversation: string): void;
  onChange(listener: (conversation: string) => void): void;
  /** Nothing is told or heard any more. */
  close(): void;
}

/** `user` names whose tabs they are; tabs of other users hear nothing. Browsers without channels have no other tabs. */
export function connectOtherTabs(user: string): OtherTabs {
  if (typeof BroadcastChannel === 'undefined')
    return { notify: () => undefined, onChange: () => undefined, close: () => undefined };
  const channel = new BroadcastChannel(`parley ${user}`);
  let isOpen = true;
  return {
    notify: (conversation) => isOpen && channel.postMessage(conversation),
    onChange(listener) {
      channel.onmessage = ({ data }) => listener(String(data));
    },
    close() {
      isOpen = false;
      channel.close();
    },
  };
}
