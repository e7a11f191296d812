import { AttachmentList } from '../../attachments/attachment-list.tsx';
import type { Turn } from '../../conversation/conversation.ts';
import { useGetName } from '../../page/page.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { ReplyBody, ReplyName } from './reply-body.tsx';

/** A turn that can only be read and copied. */
export function ReadOnlyTurn({ turn, isDeferred }: { readonly turn: Turn; readonly isDeferred: boolean }) {
  const strings = useStrings();
  const getName = useGetName();
  if (turn.kind === 'reply')
    return (
      <article className="reply" aria-label={getName(turn.deployment, turn.deploymentName)}>
        <ReplyName reply={turn} />
        <ReplyBody reply={turn} isDeferred={isDeferred} />
        {turn.text !== '' && (
          <div className="actions">
            <CopyButton text={() => turn.text} />
          </div>
        )}
      </article>
    );
  const { text, control, filled = [], attachments } = turn;
  return (
    <article className="question" aria-label={strings.you}>
      <div className="question-body">
        {control !== undefined && <p className="chosen">{[control.label, ...filled].join(' · ')}</p>}
        {text !== '' && (
          <p className="question-text" dir="auto">
            {text}
          </p>
        )}
        <AttachmentList attachments={attachments} />
      </div>
    </article>
  );
}
