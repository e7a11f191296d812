/** Notifies the user's other tabs of changed and removed chats, and receives their notifications. */
export interface OtherTabs {
  notify(conversationId: string): void;
  onChange(listener: (conversationId: string) => void): void;
  /** Stops sending and receiving. */
  close(): void;
}

/** `user` identifies whose tabs are connected. Tabs of other users are not notified. */
export function connectOtherTabs(user: string): OtherTabs {
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
