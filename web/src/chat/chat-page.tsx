import { Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { CodeButton } from '../code/code-button.tsx';
import type { Asking } from '../conversation/asking.ts';
import type { ChatSettings } from '../conversation/chat-settings.ts';
import { branchesOf, type Conversation, shownTurns, type Turn } from '../conversation/conversation.ts';
import { useConversation, usePage } from '../page/page.tsx';
import type { Lost } from '../page/place.ts';
import { toKeys } from '../palette/keys.ts';
import { Guard } from '../parts/guard.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import { Notice } from '../parts/notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import type { Deployment } from '../service/deployments.ts';
import { ShareButton } from '../share/share-button.tsx';
import { sharedBy } from '../words/shared-by.ts';
import { useWords } from '../words/words.tsx';
import { Beginning } from './beginning.tsx';
import { ChatSettingsButton } from './chat-settings-button.tsx';
import { Composer } from './composer.tsx';
import { ConsentBanner } from './consent-banner.tsx';
import { DeploymentPicker } from './deployment-picker.tsx';
import { ExportMenu } from './export-menu.tsx';
import { noteUse } from './favourites.ts';
import type { Said } from './said.ts';
import { Thread } from './thread.tsx';
import { useAnnouncements } from './use-announcements.ts';

const FoundBar = lazyView(() => import('../search/found-bar.tsx').then(({ FoundBar: view }) => view));

interface ChatPageProps {
  /** Of the conversation; undefined for one that is yet to begin. */
  readonly id: string | undefined;
  /** The deployment that a new conversation is to begin with. */
  readonly preferred: string | undefined;
  readonly openMenu: () => void;
  /** What the user came for, and is not there. */
  readonly lost: Lost | undefined;
}

const lastDeployment = 'parley deployment';

/** One conversation, or the place to begin one. */
export function ChatPage({ id, preferred, openMenu, lost }: ChatPageProps) {
  const words = useWords();
  const { library, asking, deployments, go, place } = usePage();
  const find = place.at === 'conversation' ? place.find : undefined;
  const conversation = useConversation(id ?? '');
  const [wanted, setWanted] = useState(preferred);
  const [settings, setSettings] = useState<ChatSettings>({});
  const deploymentId = conversation?.deployment ?? wanted ?? '';
  const deployment =
    deployments.find((each) => each.id === deploymentId) ?? (conversation === undefined ? firstOf(deployments) : undefined);
  const sharer = deployment === undefined ? '' : sharedBy(deployment, words);
  const turns = useMemo(() => (conversation === undefined ? [] : shownTurns(conversation)), [conversation]);
  const last = turns.at(-1);
  const running = runningOf(asking, conversation, last);
  useAnnouncements(last);

  useEffect(() => {
    if (id !== undefined) void library.open(id).then((isThere) => !isThere && go({ at: 'new', lost: 'conversation' }));
  }, [id, library, go]);
  useEffect(() => {
    document.title = conversation?.title ? `${conversation.title} · ${words.product}` : words.product;
  }, [conversation?.title, words]);

  const choose = (chosen: string): void => {
    localStorage.setItem(lastDeployment, chosen);
    setWanted(chosen);
    if (id !== undefined) library.change(id, (now) => ({ ...now, deployment: chosen }));
  };
  const set = (next: ChatSettings): void => {
    setSettings(next);
    if (id !== undefined) library.change(id, (now) => ({ ...now, settings: next }));
  };
  const say = useCallback(
    (said: Said): void => {
      if (deployment === undefined) return;
      localStorage.setItem(lastDeployment, deployment.id);
      noteUse(deployment.id);
      const target = conversation ?? { ...begin(deployment.id), settings };
      if (conversation === undefined) library.put(target);
      void asking.ask(target.id, { parent: shownTurns(target).at(-1)?.id ?? '', ...said });
      if (conversation === undefined) go({ at: 'conversation', id: target.id });
    },
    [conversation, deployment, settings, library, asking, go],
  );

  if (id !== undefined && conversation === undefined) return <main className="content" aria-busy="true" />;
  return (
    <main className="content">
      {conversation !== undefined && <h1 className="heard-only">{conversation.title || words.untitled}</h1>}
      <PageHeader openMenu={openMenu}>
        <DeploymentPicker {...{ deployments, chosen: deployment, missing: deploymentId, choose }} />
        <ChatSettingsButton
          settings={conversation?.settings ?? settings}
          takesTools={deployment?.isApplication === false}
          change={set}
        />
        {deployment !== undefined && <CodeButton deployment={deployment} />}
        {conversation !== undefined && (
          <>
            <ShareButton conversation={conversation.id} />
            <ExportMenu conversation={conversation} />
          </>
        )}
      </PageHeader>
      {conversation === undefined && <Notice />}
      {conversation !== undefined && find !== undefined && (
        <Guard instead={null}>
          <Suspense fallback={null}>
            <FoundBar {...{ conversation, query: find }} />
          </Suspense>
        </Guard>
      )}
      {sharer !== '' && <p className="shared-strip small">{sharer}</p>}
      {conversation === undefined ? <Beginning {...{ deployment, say, choose }} /> : <Thread {...{ conversation, turns, say }} />}
      <div className="below">
        {deployment !== undefined && <ConsentBanner key={deployment.id} deployment={deployment} conversation={id} last={last} />}
        <Notices {...{ deployment, deploymentId, lost }} isNew={conversation === undefined} />
        <Composer key={id ?? 'new'} {...{ deployment, say, draftOf: id ?? 'new' }} running={running?.id} />
        <Hint isNew={conversation === undefined} />
      </div>
    </main>
  );
}

/** The answer that is under way, or one of those that come beside the one that is shown. */
function runningOf(asking: Asking, conversation: Conversation | undefined, last: Turn | undefined): Turn | undefined {
  if (last?.kind !== 'reply' || conversation === undefined) return undefined;
  const replies = asking.isBeside(last.parent) ? (branchesOf(conversation).get(last.parent) ?? []) : [last];
  return replies.find((reply) => reply.kind === 'reply' && reply.state === 'running');
}

/** What keys bring, where somebody is about to write for the first time. */
function Hint({ isNew }: { readonly isNew: boolean }) {
  const words = useWords();
  return isNew && <p className="composer-hint soft small">{words.composerHint(toKeys('Mod K').join(' '))}</p>;
}

interface NoticesProps extends Pick<ChatPageProps, 'lost'> {
  readonly deployment: Deployment | undefined;
  /** What was wished for. */
  readonly deploymentId: string;
  readonly isNew: boolean;
}

/** What is not as the user wished it. */
function Notices({ deployment, deploymentId, lost, isNew }: NoticesProps) {
  const words = useWords();
  const isGone = deployment === undefined && deploymentId !== '';
  const isAnother = isNew && deployment !== undefined && deploymentId !== '' && deployment.id !== deploymentId;
  return (
    <>
      {lost !== undefined && <p className="note">{lost === 'view' ? words.viewLost : words.conversationLost}</p>}
      {isGone && <p className="note">{words.deploymentGone(deploymentId)}</p>}
      {isAnother && <p className="note">{words.deploymentNotOpen(deploymentId, deployment.name)}</p>}
    </>
  );
}

const sample = 'sample';

/**
 * Whom a first question goes to: the last one used, else the sample, else the first of the service that answers at once. Never
 * what another user saved, whatever it calls itself: that is for the user to choose.
 */
function firstOf(deployments: readonly Deployment[]): Deployment | undefined {
  const open = deployments.filter(({ maker }) => maker !== 'other').sort((one, other) => one.place - other.place);
  const lastUsed = localStorage.getItem(lastDeployment);
  return (
    open.find(({ id }) => id === lastUsed) ??
    open.find(({ id }) => id === sample) ??
    open.find(({ requiresConsent }) => !requiresConsent) ??
    open[0]
  );
}

function begin(deployment: string): Conversation {
  const now = Date.now();
  return { id: crypto.randomUUID(), title: '', deployment, createdAtMs: now, updatedAtMs: now, turns: {}, shown: {} };
}
