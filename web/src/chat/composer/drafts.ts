import type { OutboxStorage } from '../../conversation/outbox.ts';
import { readBrand } from '../../shell/brand.ts';

const prefix = 'parley draft ';
const getPrefix = (user: string): string => `${prefix}${encodeURIComponent(user)} `;

/**
 * Returns the unsent text of a chat. The browser stores it until the user signs out. If the operator forbids storage in browsers,
 * only the tab stores it.
 */
export function readDraft(user: string, id: string): string {
  const name = getPrefix(user) + id;
  return sessionStorage.getItem(name) ?? localStorage.getItem(name) ?? '';
}

export function saveDraft(user: string, id: string, text: string): void {
  const name = getPrefix(user) + id;
  const storages = readBrand().offline === false ? [sessionStorage] : [sessionStorage, localStorage];
  for (const storage of storages) {
    if (text === '') storage.removeItem(name);
    else storeItem(storage, name, text);
  }
}

export function deleteDrafts(user: string): void {
  for (const storage of [sessionStorage, localStorage])
    for (const name of Object.keys(storage)) if (name.startsWith(getPrefix(user))) storage.removeItem(name);
}

/** Key of a draft that marks a chat whose answer was in progress when the user left the chat. */
export const toUnseenKey = (id: string): string => `unseen ${id}`;

/** Returns the unsaved changes of an application, or of a new one (''). This tab stores them until the user signs out. */
export function readAppDraft(user: string, id: string): string {
  return sessionStorage.getItem(`${getPrefix(user)}app ${id}`) ?? '';
}

export function saveAppDraft(user: string, id: string, text: string): void {
  const name = `${getPrefix(user)}app ${id}`;
  if (text === '') sessionStorage.removeItem(name);
  else storeItem(sessionStorage, name, text);
}

/** Whether this tab has unsaved changes of applications. */
export function hasAppDrafts(user: string): boolean {
  return Object.keys(sessionStorage).some((name) => name.startsWith(`${getPrefix(user)}app `));
}

/** Deletes the drafts of all users in local storage. Drafts in the session storage of this tab stay. */
export function deleteAllDrafts(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(prefix)) localStorage.removeItem(name);
}

/**
 * Returns the storage of queued messages. All tabs share it, because only one tab sends them. If the operator forbids storage in
 * browsers, each tab has its own.
 */
export function createOutboxStorage(user: string): OutboxStorage {
  const storage = readBrand().offline === false ? sessionStorage : localStorage;
  const keyPrefix = `${getPrefix(user)}queue `;
  return {
    readQueue: (id) => storage.getItem(keyPrefix + id) ?? '',
    write: (id, text) => (text === '' ? storage.removeItem(keyPrefix + id) : storeItem(storage, keyPrefix + id, text)),
    onChange: (act) =>
      addEventListener('storage', ({ key }) => {
        if (key?.startsWith(keyPrefix)) act(key.slice(keyPrefix.length));
      }),
  };
}

function storeItem(storage: Storage, name: string, text: string): void {
  try {
    storage.setItem(name, text);
  } catch {
    // The text exceeds the storage quota. It stays on the screen.
  }
}
