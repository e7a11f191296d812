/** Tells the user's other tabs which conversation was changed or removed, and is told by them. */
export interface OtherTabs {
  tell(conversation: string): void;
  onChange(hear: (conversation: string) => void): void;
}

/** `user` names whose tabs they are; tabs of other users hear nothing. Browsers without channels have no other tabs. */
export function otherTabsOf(user: string): OtherTabs {
  if (typeof BroadcastChannel === 'undefined') return { tell: () => undefined, onChange: () => undefined };
  const channel = new BroadcastChannel(`parley ${user}`);
  return {
    tell: (conversation) => channel.postMessage(conversation),
    onChange(hear) {
      channel.onmessage = ({ data }) => hear(String(data));
    },
  };
}
