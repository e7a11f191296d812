/** Tells the user's other tabs which conversation was changed or removed, and is told by them. */
export interface OtherTabs {
  tell(conversation: string): void;
  onChange(hear: (conversation: string) => void): void;
  /** Nothing is told or heard any more. */
  close(): void;
}

/** `user` names whose tabs they are; tabs of other users hear nothing. Browsers without channels have no other tabs. */
export function otherTabsOf(user: string): OtherTabs {
  if (typeof BroadcastChannel === 'undefined')
    return { tell: () => undefined, onChange: () => undefined, close: () => undefined };
  const channel = new BroadcastChannel(`parley ${user}`);
  let isOpen = true;
  return {
    tell: (conversation) => isOpen && channel.postMessage(conversation),
    onChange(hear) {
      channel.onmessage = ({ data }) => hear(String(data));
    },
    close() {
      isOpen = false;
      channel.close();
    },
  };
}
