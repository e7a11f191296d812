import { Suspense } from 'react';
import { AttachmentList } from '../attachments/attachment-list.tsx';
import type { Question, Reply } from '../conversation/conversation.ts';
import { SourcesContext } from '../markdown/sources.ts';
import { usePage } from '../page/page.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Guard } from '../parts/guard.tsx';
import { Icon } from '../parts/icon.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import { useWords } from '../words/words.tsx';
import { BranchSwitch } from './branch-switch.tsx';
import { hasRefusedStage } from './consent-refusal.ts';
import { ControlList } from './control-list.tsx';
import { DeploymentIcon } from './deployment-icon.tsx';
import { FaultNote } from './fault-note.tsx';
import type { Said } from './said.ts';
import { StageList } from './stage-list.tsx';
import { Thoughts } from './thoughts.tsx';
import { UsageLine } from './usage-line.tsx';
import { useSources } from './use-sources.ts';
import { Waiting } from './waiting.tsx';

const Markdown = lazyView(() => import('../markdown/markdown.tsx').then(({ Markdown: view }) => view));

interface ReplyViewProps {
  readonly reply: Reply;
  readonly branches: readonly string[];
  readonly conversationId: string;
  readonly answered: Question | undefined;
  readonly say: ((said: Said) => void) | undefined;
  readonly isLate: boolean;
}

/** An answer with everything that came with it. */
export function ReplyView({ reply, branches, conversationId, answered, say, isLate }: ReplyViewProps) {
  const { text, custom, state } = reply;
  const { deployments, asking } = usePage();
  const deployment = deployments.find(({ id }) => id === reply.deployment);
  const name = deployment?.name ?? reply.deployment;
  const isRunning = state === 'running';
  const { sources, ...attached } = useSources(reply);
  const stages = Array.isArray(custom.stages) ? custom.stages : [];
  const plain = <div className="markdown plain">{text}</div>;
  return (
    <article className="reply" aria-label={name} aria-busy={isRunning}>
      <p className="reply-name">
        {deployment !== undefined && <DeploymentIcon deployment={deployment} size="tiny" />}
        {name}
      </p>
      {stages.length > 0 && <StageList {...{ stages, isRunning }} times={reply.stageTimes} />}
      {reply.thoughts !== undefined && <Thoughts text={reply.thoughts} />}
      {text !== '' && (
        <Guard instead={plain}>
          <Suspense fallback={plain}>
            <SourcesContext value={sources}>
              <Markdown text={text} isGrowing={isRunning} isLate={isLate} />
            </SourcesContext>
          </Suspense>
        </Guard>
      )}
      {isRunning && text === '' && <Waiting />}
      <AttachmentList {...attached} />
      <Remarks reply={reply} />
      {Array.isArray(custom.controls) && !isRunning && (
        <ControlList {...{ controls: custom.controls, answered, say }} key={reply.id} />
      )}
      {reply.fault !== undefined && (
        <FaultNote
          {...{ fault: reply.fault, deployment: reply.deployment, conversationId }}
          again={() => void asking.answer(conversationId, reply.parent)}
        />
      )}
      {!isRunning && <Actions {...{ reply, branches, conversationId }} />}
    </article>
  );
}

/** How the answer ended, where that is not the usual way. */
function Remarks({ reply: { state, finish, functionCall } }: { readonly reply: Reply }) {
  const words = useWords();
  const remarks = [
    state === 'stopped' && words.stopped,
    state === 'interrupted' && words.interrupted,
    finish === 'length' && words.cutShort,
    finish === 'content_filter' && words.filtered,
    functionCall !== undefined && words.functionCalled(functionCall.name ?? ''),
  ];
  return remarks
    .filter((remark) => remark !== false)
    .map((remark) => (
      <p key={remark} className="note">
        {remark}
      </p>
    ));
}

function Actions({ reply, branches, conversationId }: Pick<ReplyViewProps, 'reply' | 'branches' | 'conversationId'>) {
  const { asking } = usePage();
  const retry = (): void => void asking.answer(conversationId, reply.parent, reply);
  return (
    <div className="actions">
      <BranchSwitch {...{ conversationId, branches }} turnId={reply.id} />
      {reply.text !== '' && <CopyButton text={() => reply.text} />}
      <RetryButton hasFallenShort={reply.state !== 'done' || hasRefusedStage(reply)} retry={retry} />
      <UsageLine reply={reply} />
    </div>
  );
}

/** Where an answer is not whole, trying again is what helps: then it is named. */
function RetryButton({ hasFallenShort, retry }: { readonly hasFallenShort: boolean; readonly retry: () => void }) {
  const words = useWords();
  const looks = hasFallenShort ? { className: 'button slim' } : { className: 'icon-button', 'aria-label': words.retry };
  return (
    <button type="button" {...looks} title={words.retry} onClick={retry}>
      <Icon name="again" />
      {hasFallenShort && words.retry}
    </button>
  );
}
