import { useCallback, useEffect, useMemo, useState } from 'react';
import { type Conversation, shownTurns } from '../conversation/conversation.ts';
import { useConversation, usePage } from '../page/page.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';
import { Beginning } from './beginning.tsx';
import { Composer } from './composer.tsx';
import { ConsentBanner } from './consent-banner.tsx';
import { DeploymentPicker } from './deployment-picker.tsx';
import { ExportMenu } from './export-menu.tsx';
import type { Said } from './said.ts';
import { Thread } from './thread.tsx';
import { useAnnouncements } from './use-announcements.ts';

interface ChatPageProps {
  /** Of the conversation; undefined for one that is yet to begin. */
  readonly id: string | undefined;
  /** The deployment that a new conversation is to begin with. */
  readonly preferred: string | undefined;
  readonly openMenu: () => void;
}

const lastDeployment = 'parley deployment';

/** One conversation, or the place to begin one. */
export function ChatPage({ id, preferred, openMenu }: ChatPageProps) {
  const words = useWords();
  const { library, asking, deployments, go } = usePage();
  const conversation = useConversation(id ?? '');
  const [wanted, setWanted] = useState(preferred ?? localStorage.getItem(lastDeployment) ?? '');
  const deploymentId = conversation?.deployment ?? wanted;
  const deployment =
    deployments.find((each) => each.id === deploymentId) ?? (conversation === undefined ? firstOf(deployments) : undefined);
  const turns = useMemo(() => (conversation === undefined ? [] : shownTurns(conversation)), [conversation]);
  const last = turns.at(-1);
  const running = last?.kind === 'reply' && last.state === 'running' ? last : undefined;
  useAnnouncements(last);

  useEffect(() => {
    if (id !== undefined) void library.open(id).then((isThere) => !isThere && go({ at: 'new' }));
  }, [id, library, go]);
  useEffect(() => {
    document.title = conversation?.title ? `${conversation.title} · ${words.product}` : words.product;
  }, [conversation?.title, words]);

  const choose = (chosen: string): void => {
    localStorage.setItem(lastDeployment, chosen);
    setWanted(chosen);
    if (id !== undefined) library.change(id, (now) => ({ ...now, deployment: chosen }));
  };
  const say = useCallback(
    (said: Said): void => {
      if (deployment === undefined) return;
      localStorage.setItem(lastDeployment, deployment.id);
      const target = conversation ?? begin(deployment.id);
      if (conversation === undefined) library.put(target);
      void asking.ask(target.id, { parent: shownTurns(target).at(-1)?.id ?? '', ...said });
      if (conversation === undefined) go({ at: 'conversation', id: target.id });
    },
    [conversation, deployment, library, asking, go],
  );

  if (id !== undefined && conversation === undefined) return <main className="content" aria-busy="true" />;
  return (
    <main className="content">
      {conversation !== undefined && <h1 className="heard-only">{conversation.title || words.untitled}</h1>}
      <PageHeader openMenu={openMenu}>
        <DeploymentPicker {...{ deployments, chosen: deployment, missing: deploymentId, choose }} />
        {conversation !== undefined && <ExportMenu conversation={conversation} />}
      </PageHeader>
      {conversation === undefined ? <Beginning {...{ deployment, say, choose }} /> : <Thread {...{ conversation, turns, say }} />}
      <div className="below">
        {deployment !== undefined && <ConsentBanner key={deployment.id} deployment={deployment} conversation={id} last={last} />}
        {deployment === undefined && deployments.length > 0 && <p className="note">{words.deploymentGone(deploymentId)}</p>}
        <Composer key={id ?? 'new'} {...{ deployment, say, draftOf: id ?? 'new' }} running={running?.id} />
      </div>
    </main>
  );
}

/** One that answers at once, if there is any. */
function firstOf(deployments: readonly Deployment[]): Deployment | undefined {
  return deployments.find(({ requiresConsent }) => !requiresConsent) ?? deployments[0];
}

function begin(deployment: string): Conversation {
  const now = Date.now();
  return { id: crypto.randomUUID(), title: '', deployment, createdAtMs: now, updatedAtMs: now, turns: {}, shown: {} };
}
