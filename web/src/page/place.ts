/** Where in the page the user is. Kept in the address behind `#`, so that no path of the API is taken. */
export type Place =
  /** `lost`: the user came for a conversation, or a view, that is not there. */
  | { readonly at: 'new'; readonly deployment?: string; readonly lost?: Lost }
  /** `find`: words that are marked in it. */
  | { readonly at: 'conversation'; readonly id: string; readonly find?: string }
  /** A conversation that is kept nowhere; `deployment` it is to begin with. */
  | { readonly at: 'temporary'; readonly deployment?: string }
  /** What somebody shared by a link. */
  | { readonly at: 'shared'; readonly token: string }
  | { readonly at: 'consents' }
  /** The user's stored files; `folder` without a slash at its end, absent for all. */
  | { readonly at: 'files'; readonly folder?: string }
  | { readonly at: 'usage' }
  /** What is answered in the background; `id` of the response that is open. */
  | { readonly at: 'background'; readonly id?: string }
  /** For administrators alone. */
  | { readonly at: 'operations' }
  /** The user's own applications; `id` of the one that is open, '' for one that is yet to be made. */
  | { readonly at: 'applications'; readonly id?: string }
  /** `back`: the conversation the user came from. */
  | { readonly at: 'consent'; readonly deployment: string; readonly back?: string };

export type Lost = 'conversation' | 'view';

export function toPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [at, ...rest] = path.split('/');
  const id = decoded(rest.join('/'));
  const fields = new URLSearchParams(query);
  if (at === 'chat' && id !== '') return { at: 'conversation', id, ...given('find', fields.get('find')) };
  if (at === 'shared' && id !== '') return { at, token: id };
  if (at === 'consent' && id !== '') return { at, deployment: id, ...given('back', fields.get('back')) };
  if (at === 'consent') return { at: 'consents' };
  if (at === 'build') return id === '' ? { at: 'applications' } : { at: 'applications', id: id === 'new' ? '' : id };
  if (at === 'files') return { at, ...given('folder', id) };
  if (at === 'background') return { at, ...given('id', id) };
  if (at === 'temporary') return { at, ...given('deployment', fields.get('with')) };
  if (at === 'usage' || at === 'operations') return { at };
  return toNewPlace(path, fields);
}

/** A link with a key is taken elsewhere, and leads to a new conversation. */
function toNewPlace(path: string, fields: URLSearchParams): Place {
  if (path !== '' && !path.startsWith('key=')) return { at: 'new', lost: 'view' };
  return { at: 'new', ...given('deployment', fields.get('with')), ...(fields.has('lost') && { lost: 'conversation' }) };
}

export function toHash(place: Place): string {
  if (place.at === 'conversation') return `#/chat/${encodeURIComponent(place.id)}${toQuery('find', place.find)}`;
  if (place.at === 'shared') return `#/shared/${encodeURIComponent(place.token)}`;
  if (place.at === 'consents') return '#/consent';
  if (place.at === 'applications')
    return place.id === undefined ? '#/build' : `#/build/${place.id === '' ? 'new' : toPath(place.id)}`;
  if (place.at === 'files') return place.folder === undefined ? '#/files' : `#/files/${toPath(place.folder)}`;
  if (place.at === 'background') return place.id === undefined ? '#/background' : `#/background/${encodeURIComponent(place.id)}`;
  if (place.at === 'usage' || place.at === 'operations') return `#/${place.at}`;
  if (place.at === 'new') return toNewHash(place);
  if (place.at === 'temporary') return `#/temporary${toQuery('with', place.deployment)}`;
  return `#/consent/${toPath(place.deployment)}${toQuery('back', place.back)}`;
}

function toQuery(name: string, value: string | undefined): string {
  return value === undefined ? '' : `?${name}=${encodeURIComponent(value)}`;
}

function toNewHash({ deployment, lost }: Extract<Place, { at: 'new' }>): string {
  if (lost !== undefined) return '#/?lost';
  return `#/${toQuery('with', deployment)}`;
}

function toPath(id: string): string {
  return id.split('/').map(encodeURIComponent).join('/');
}

function given<Key extends string>(key: Key, value: string | null): { [key in Key]?: string } {
  return value === null || value === '' ? {} : ({ [key]: value } as { [key in Key]: string });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
