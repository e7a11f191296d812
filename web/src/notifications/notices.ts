const storageKey = 'parley notices';

/** Whether this browser is to say when an answer is ready, and still may. */
export function wantsNotices(): boolean {
  return canNotify() && Notification.permission === 'granted' && localStorage.getItem(storageKey) === 'on';
}

/** Whether the browser has notifications, here: not every one has them for a page that came without https. */
export function canNotify(): boolean {
  return 'Notification' in globalThis && isSecureContext;
}

/** Resolves with whether it is as wanted: the user or the browser may refuse notifications. */
export async function setNotices(isOn: boolean): Promise<boolean> {
  if (!isOn) localStorage.removeItem(storageKey);
  else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(storageKey, 'on');
  return wantsNotices() === isOn;
}
