import { tryDecode } from '#base/http/url-path.ts';
import { encodePath } from '../service/service.ts';

/** Location within the page. It is stored after `#`, so that it does not conflict with API paths. */
export type Route =
  /** `project` of the new chat. `missingTarget`: the user requested a chat or a view that does not exist. */
  | { readonly at: 'new'; readonly deployment?: string; readonly project?: string; readonly missingTarget?: MissingTarget }
  /** `find`: search words to highlight. */
  | { readonly at: 'conversation'; readonly id: string; readonly find?: string }
  /** A chat that is not stored. `deployment` is the initial one. */
  | { readonly at: 'temporary'; readonly deployment?: string }
  /** A chat that someone shared with a link. */
  | { readonly at: 'shared'; readonly token: string }
  | { readonly at: 'consents' }
  /** The user's stored files. `folder` has no trailing slash, and is undefined for all files. `file`: name of a file to focus. */
  | { readonly at: 'files'; readonly folder?: string; readonly file?: string }
  /** `scope`: administrators see the usage of all users first. */
  | { readonly at: 'usage'; readonly scope?: 'all' }
  /** Background answers. `id` of the open response. */
  | { readonly at: 'background'; readonly id?: string }
  /** Only for administrators. */
  | { readonly at: 'operations' }
  /** Only for administrators. `id` of the open entry of a section, '' for a new one. */
  | { readonly at: 'administration'; readonly section?: string; readonly id?: string }
  /** The user's applications. `id` of the open one, '' for a new one. */
  | { readonly at: 'applications'; readonly id?: string }
  /** `back`: the previous chat. */
  | { readonly at: 'consent'; readonly deployment: string; readonly back?: string };

export type MissingTarget = 'conversation' | 'view';

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [at, ...innerPath] = path.split('/');
  const id = decode(innerPath.join('/'));
  const fields = new URLSearchParams(query);
  if (at === 'chat' && id !== '') return { at: 'conversation', id, ...optional('find', fields.get('find')) };
  if (at === 'shared' && id !== '') return { at, token: id };
  if (at === 'consent' && id !== '') return { at, deployment: id, ...optional('back', fields.get('back')) };
  if (at === 'consent') return { at: 'consents' };
  if (at === 'build') return id === '' ? { at: 'applications' } : { at: 'applications', id: id === 'new' ? '' : id };
  if (at === 'administration') return parseAdministrationRoute(innerPath, fields.has('new'));
  if (at === 'files') return { at, ...optional('folder', id), ...optional('file', fields.get('file')) };
  if (at === 'background') return { at, ...optional('id', id) };
  if (at === 'temporary') return { at, ...optional('deployment', fields.get('with')) };
  if (at === 'usage') return { at, ...(fields.get('scope') === 'all' && { scope: 'all' }) };
  if (at === 'operations') return { at };
  return parseNewRoute(path, fields);
}

function parseAdministrationRoute([section = '', ...entry]: readonly string[], isNew: boolean): Route {
  const id = isNew ? { id: '' } : optional('id', decode(entry.join('/')));
  return { at: 'administration', ...optional('section', section), ...id };
}

/** The key of a link is handled elsewhere. The link opens a new chat. */
function parseNewRoute(path: string, fields: URLSearchParams): Route {
  if (path !== '' && !path.startsWith('key=')) return { at: 'new', missingTarget: 'view' };
  return {
    at: 'new',
    ...optional('deployment', fields.get('with')),
    // A link must not send the files of a project to an application that it names.
    ...optional('project', fields.has('with') ? null : fields.get('project')),
    ...(fields.has('lost') && { missingTarget: 'conversation' }),
  };
}

export function formatRoute(route: Route): string {
  if (route.at === 'conversation') return `#/chat/${encodeURIComponent(route.id)}${toQuery('find', route.find)}`;
  if (route.at === 'shared') return `#/shared/${encodeURIComponent(route.token)}`;
  if (route.at === 'consents') return '#/consent';
  if (route.at === 'applications')
    return route.id === undefined ? '#/build' : `#/build/${route.id === '' ? 'new' : encodePath(route.id)}`;
  if (route.at === 'administration') return formatAdministrationRoute(route);
  if (route.at === 'files') return `#/files${route.folder ? `/${encodePath(route.folder)}` : ''}${toQuery('file', route.file)}`;
  if (route.at === 'background') return route.id === undefined ? '#/background' : `#/background/${encodeURIComponent(route.id)}`;
  if (route.at === 'usage') return `#/usage${toQuery('scope', route.scope)}`;
  if (route.at === 'operations') return '#/operations';
  if (route.at === 'new') return formatNewRoute(route);
  if (route.at === 'temporary') return `#/temporary${toQuery('with', route.deployment)}`;
  return `#/consent/${encodePath(route.deployment)}${toQuery('back', route.back)}`;
}

function toQuery(name: string, value: string | undefined): string {
  return value === undefined ? '' : `?${name}=${encodeURIComponent(value)}`;
}

function formatNewRoute({ deployment, project, missingTarget }: Extract<Route, { at: 'new' }>): string {
  if (missingTarget !== undefined) return '#/?lost';
  return `#/${project === undefined ? toQuery('with', deployment) : toQuery('project', project)}`;
}

function formatAdministrationRoute({ section, id }: Extract<Route, { at: 'administration' }>): string {
  const base = section === undefined ? '#/administration' : `#/administration/${section}`;
  if (id === undefined) return base;
  return id === '' ? `${base}?new` : `${base}/${encodePath(id)}`;
}

function optional<Key extends string>(key: Key, value: string | null): { [key in Key]?: string } {
  return value === null || value === '' ? {} : ({ [key]: value } as { [key in Key]: string });
}

/** Returns '' for an invalid encoding. */
function decode(text: string): string {
  return tryDecode(text) ?? '';
}
