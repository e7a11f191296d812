import type { Reply } from './conversation.ts';

/** Returns another version of an answer with the user's text. It keeps the sources and the state, but not the steps and forms. */
export function toEditedReply(reply: Reply, text: string, identity: { readonly id: string; readonly atMs: number }): Reply {
  const { parent, deployment, custom } = reply;
  const { attachments, state } = custom;
  return {
    ...{ kind: 'reply', ...identity, parent, deployment, state: 'done', text, isEdited: true, stageTimes: {} },
    custom: { ...(attachments !== undefined && { attachments }), ...(state !== undefined && { state }) },
  };
}
