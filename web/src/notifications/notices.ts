const storageKey = 'parley notices';

/** Whether notifications about answers are enabled and still allowed. */
export function wantsNotices(): boolean {
  return canNotify() && Notification.permission === 'granted' && localStorage.getItem(storageKey) === 'on';
}

/** Whether the browser offers notifications here. Some browsers do so only on HTTPS pages. */
export function canNotify(): boolean {
  return 'Notification' in globalThis && isSecureContext;
}

/** Resolves with whether the setting took effect, because the user or the browser may deny notifications. */
export async function setNotices(isOn: boolean): Promise<boolean> {
  if (!isOn) localStorage.removeItem(storageKey);
  else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(storageKey, 'on');
  return wantsNotices() === isOn;
}
