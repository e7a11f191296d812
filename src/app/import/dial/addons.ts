import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';
import { commonFates } from './common.ts';

const fates = {
  ...commonFates,
  iconUrl: 'addons have no picture here',
  displayVersion: 'addons have no version here',
  features: 'addons have no features here',
  defaults: 'addons have no defaults here',
  forwardAuthToken: 'the token of a user is never handed on',
  inputAttachmentTypes: 'addons take no attachments',
  maxInputAttachments: 'addons take no attachments',
};

/** The entries of `addons`. Those for some roles only are left out: here an addon is open to everybody. */
export function importAddons(root: ForeignObject, { notes, variables, result }: ImportTools): void {
  for (const [name, addon] of root.named('addons')) {
    const endpoint = addon.text('endpoint');
    if (addon.value('userRoles') !== undefined) {
      notes.lose(addon.path, 'is left out: addons are open to everybody here, and this one is for some roles');
      continue;
    }
    if (endpoint === undefined) {
      notes.lose(addon.path, 'is left out: it has no endpoint', addon.whatIsMeant('endpoint'));
      continue;
    }
    const displayName = addon.text('displayName');
    const description = addon.text('description');
    const token = addon.text('token');
    addon.leave(fates, 'an addon of DIAL');
    const bearer = token && { type: 'bearer', token: variables.reference(token, addon.at('token'), `${name}_token`) };
    const entry = {
      url: variables.address(endpoint, addon.at('endpoint'), name),
      ...(displayName && { displayName: variables.text(displayName) }),
      ...(description !== undefined && { description: variables.text(description) }),
      ...(bearer && { authorization: bearer }),
    };
    result.put('addons', name, result.from(addon.path, entry));
  }
}
