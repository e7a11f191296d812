const storageKey = 'parley follow-ups';

/** Whether this browser is to suggest what to ask next: off until it is chosen, as it takes tokens of the user's. */
export function wantsFollowUps(): boolean {
  return localStorage.getItem(storageKey) === 'on';
}

export function chooseFollowUps(isOn: boolean): void {
  if (isOn) localStorage.setItem(storageKey, 'on');
  else localStorage.removeItem(storageKey);
}
