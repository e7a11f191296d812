const storageKey = 'parley follow-ups';

/** Whether this browser suggests follow-up questions. Off by default, because they use the user's tokens. */
export function areFollowUpsEnabled(): boolean {
  return localStorage.getItem(storageKey) === 'on';
}

export function setFollowUps(isOn: boolean): void {
  if (isOn) localStorage.setItem(storageKey, 'on');
  else localStorage.removeItem(storageKey);
}
