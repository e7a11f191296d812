const storageKey = 'parley follow-ups';

/** Whether this browser suggests follow-up questions. Off by default, because they use the user's tokens. */
export function wantsFollowUps(): boolean {
  return localStorage.getItem(storageKey) === 'on';
}

export function chooseFollowUps(isOn: boolean): void {
  if (isOn) localStorage.setItem(storageKey, 'on');
  else localStorage.removeItem(storageKey);
}
