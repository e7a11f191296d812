import type { Reply } from './conversation.ts';

/** The user's own words in place of an answer: another version of it, with its sources and its state, without its steps and forms. */
export function toEditedReply(reply: Reply, text: string, identity: { readonly id: string; readonly atMs: number }): Reply {
  const { parent, deployment, custom } = reply;
  const { attachments, state } = custom;
  return {
    ...{ kind: 'reply', ...identity, parent, deployment, state: 'done', text, isEdited: true, stageTimes: {} },
    custom: { ...(attachments !== undefined && { attachments }), ...(state !== undefined && { state }) },
  };
}
