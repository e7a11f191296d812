import { Suspense } from 'react';
import { AttachmentList } from '../attachments/attachment-list.tsx';
import { SourceRow } from '../attachments/source-row.tsx';
import type { Reply } from '../conversation/conversation.ts';
import { SourcesContext } from '../markdown/sources.ts';
import { usePage } from '../page/page.tsx';
import { Guard } from '../parts/guard.tsx';
import { LaterDialog } from '../parts/later-dialog.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import { useWords } from '../words/words.tsx';
import { hasRefusedStage, withoutConsentPath } from './consent-refusal.ts';
import { DeploymentIcon } from './deployment-icon.tsx';
import { Thoughts } from './thoughts.tsx';
import { useSources } from './use-sources.ts';
import { Waiting } from './waiting.tsx';

const Markdown = lazyView(() => import('../markdown/markdown.tsx').then(({ Markdown: view }) => view));
const StageList = lazyView(() => import('./stage-list.tsx').then(({ StageList: view }) => view));
const SourcePanel = lazyView(() => import('../attachments/source-panel.tsx').then(({ SourcePanel: view }) => view));

/** Who answers. */
export function ReplyName({ reply }: { readonly reply: Reply }) {
  const words = useWords();
  const { deployments } = usePage();
  const deployment = deployments.find(({ id }) => id === reply.deployment);
  return (
    <p className="reply-name">
      {deployment !== undefined && <DeploymentIcon deployment={deployment} size="tiny" />}
      {deployment?.name ?? reply.deployment}
      {reply.isEdited === true && <span className="edited">{words.edited}</span>}
    </p>
  );
}

/** What an answer says and brings: steps, thoughts, text, attachments, and how it ended. */
export function ReplyBody({ reply, isLate }: { readonly reply: Reply; readonly isLate: boolean }) {
  const { custom, state, thoughts, stageTimes } = reply;
  const text = hasRefusedStage(reply) ? withoutConsentPath(reply.text) : reply.text;
  const isRunning = state === 'running';
  const { cited, others, shown, show, sources } = useSources(reply);
  const stages = Array.isArray(custom.stages) ? custom.stages : [];
  const plain = (
    <div className="markdown plain" dir="auto">
      {text}
    </div>
  );
  return (
    <>
      {stages.length > 0 && (
        <Guard instead={null}>
          <Suspense fallback={<div className="part-coming" />}>
            <StageList {...{ stages, isRunning }} times={stageTimes} />
          </Suspense>
        </Guard>
      )}
      {thoughts !== undefined && <Thoughts text={thoughts} />}
      {text !== '' && (
        <Guard instead={plain}>
          <Suspense fallback={plain}>
            <SourcesContext value={sources}>
              <Markdown text={text} isGrowing={isRunning} isLate={isLate} />
            </SourcesContext>
          </Suspense>
        </Guard>
      )}
      {isRunning && text === '' && <Waiting replyId={reply.id} />}
      {cited.length > 0 && <SourceRow {...{ cited, shown, show }} />}
      {shown !== undefined && (
        <LaterDialog close={() => show(undefined)}>
          <SourcePanel {...{ cited, shown, show }} close={() => show(undefined)} />
        </LaterDialog>
      )}
      <AttachmentList attachments={others} />
      <Remarks reply={reply} />
    </>
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
