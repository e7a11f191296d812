import { readBrand } from '../page/brand.ts';

const prefix = 'parley draft ';
const prefixOf = (user: string): string => `${prefix}${encodeURIComponent(user)} `;

/** What is written and not sent yet: it outlives the tab, unless browsers are to keep nothing, until the user signs out. */
export function readDraft(user: string, id: string): string {
  const name = prefixOf(user) + id;
  return sessionStorage.getItem(name) ?? localStorage.getItem(name) ?? '';
}

export function keepDraft(user: string, id: string, text: string): void {
  const name = prefixOf(user) + id;
  const storages = readBrand().offline === false ? [sessionStorage] : [sessionStorage, localStorage];
  for (const storage of storages) {
    if (text === '') storage.removeItem(name);
    else keepIn(storage, name, text);
  }
}

export function forgetDrafts(user: string): void {
  for (const storage of [sessionStorage, localStorage])
    for (const name of Object.keys(storage)) if (name.startsWith(prefixOf(user))) storage.removeItem(name);
}

/** Of every user, but for what is written in this tab. */
export function forgetAllDrafts(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(prefix)) localStorage.removeItem(name);
}

function keepIn(storage: Storage, name: string, text: string): void {
  try {
    storage.setItem(name, text);
  } catch {
    // It is longer than the browser keeps, and stays on the screen.
  }
}
