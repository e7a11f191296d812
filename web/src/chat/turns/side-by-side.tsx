import { type Conversation, listVisibleTurns, type Reply, type Turn, withVisibleTurn } from '../../conversation/conversation.ts';
import { TextButton } from '../../parts/icon.tsx';
import { useConversation, usePage } from '../../shell/page.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';
import { UsageLine } from '../reply-usage.tsx';
import { QuestionBody } from './read-only-thread.tsx';
import { ReplyBody, ReplyName } from './reply-body.tsx';
import './side-by-side.css';

interface SideBySideProps {
  readonly conversationId: string;
  /** All versions of the question or answer, oldest first. */
  readonly versionIds: readonly string[];
  readonly close: () => void;
}

/** Maximum number of columns that fit. */
const maxColumns = 3;

/** The latest versions of a question or answer in columns, with a button to choose one. A question appears above its answer. */
export function SideBySide({ conversationId, versionIds, close }: SideBySideProps) {
  const strings = useStrings();
  const { library } = usePage();
  const conversation = useConversation(conversationId);
  const versions = versionIds.map((id) => conversation?.turns[id]).filter((turn) => turn !== undefined);
  const choose = (version: Turn, deployment: string | undefined): void => {
    library.change(conversationId, (current) => ({
      ...withVisibleTurn(current, version),
      ...(deployment !== undefined && { deployment }),
    }));
    close();
    focusMessage();
  };
  return (
    <ul className="side-by-side" aria-label={strings.sideBySide}>
      {versions.slice(-maxColumns).map((version) => {
        const reply = conversation && findReply(conversation, version);
        return (
          <li key={version.id} className="side">
            {version.kind === 'question' && <QuestionBody question={version} />}
            {reply !== undefined && <ReplyName reply={reply} />}
            {reply !== undefined && <ReplyBody reply={reply} isDeferred={false} />}
            {reply?.fault !== undefined && <p className="note">{strings.noAnswer}</p>}
            <div className="side-footer">
              <TextButton className="button slim" onClick={() => choose(version, reply?.deployment)}>
                {strings.continueWithVersion}
              </TextButton>
              {reply !== undefined && <UsageLine reply={reply} />}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** Returns the answer itself, or the visible answer to the question. */
function findReply(conversation: Conversation, version: Turn): Reply | undefined {
  if (version.kind === 'reply') return version;
  const turns = listVisibleTurns(withVisibleTurn(conversation, version));
  return turns.find((turn): turn is Reply => turn.kind === 'reply' && turn.parent === version.id);
}
